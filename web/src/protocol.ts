// The messages between the page and volvox; src/volvox/view/web/codec.h encodes render trees and frames.

export interface Level { vertices_at: number; vertices: number; indices_at: number; indices: number }
export interface MeshInfo { levels: Level[]; radius: number; translucent: boolean }
export interface DockInfo { name: string; link: number; pose: number[]; mesh: number; scale: number; placement: number; gender: number }
export interface Thing { name: string; model: string; module: boolean; fixed: boolean; first_link: number; links: number; first_dock: number; docks: number }
export interface RenderTreeInfo {
  name: string;
  meshes: MeshInfo[];
  links: [mesh: number, placement: number][];
  link_names: string[];
  docks: DockInfo[];
  things: Thing[];
  grounds: { pose: number[]; color: number[] }[];
  cloud?: CloudInfo;
}
// What the experiment simulates beside modules: `noun` names one of them, `values` are numbers of its program.
export interface CloudInfo {
  mesh: number; noun: string; size: [number, number, number]; values: string[]; tap: boolean;
  stone?: boolean;                                                  // each lies its own way
  drops?: number; dropSize: number; fluid: [number, number, number];  // the first so many are drops of a fluid
  sheets?: { first: number; columns: number; rows: number; along: number; across: number }[];  // points of cloth, and how far apart they are at rest
}
// What has changed since the message before: 16 bytes for each: three floats, colour and how it is shown.
export interface CloudNews { items: number; changed: Uint32Array; floats: Float32Array; bytes: Uint8Array }

export interface RenderTree { info: RenderTreeInfo; buffers: ArrayBuffer; base: number }

export interface Frame {
  time: number;
  tick: number;
  links: Float32Array;      // 7 per link: position (m), rotation x y z w
  flags: Uint8Array;        // 1 per dock: see DOCK
  loads: Uint8Array;        // 1 per dock; 255: about to break
  rays: Float32Array;       // 6 per ray: start, end
  messages: Uint32Array;    // 2 per message: from dock, to dock
  colors: Uint8Array;       // 4 per placement, or empty
  rings: Float32Array;      // 4 per ring around a transmitting antenna: centre, radius (m)
}

export const DOCK = { enabled: 1, latching: 2, engaged: 4, broken: 8 };

export interface Hello {
  type: "hello"; mode: "run" | "replay" | "robot"; name: string; dt: number; ticks: number; first_tick?: number; modules: number | string;
  engine?: string; seed?: number | string; complete?: boolean; recorded?: boolean;
  recorded_ticks?: number; shown_ticks?: number;  // of a page without a server, which may leave some out
  metrics?: string[];
  parameters?: { name: string; value: string; choices: string[]; about: string }[];
  live?: Record<string, string>;
  marks?: [number, string, string][];
  points?: number[][];
  joints?: { name: string; moves: boolean; lower: number; upper: number; unit: string }[];
  docks?: { name: string; gender: string; kind: string; symmetry: number; link: string }[];
}
export interface State { type: "state"; tick: number; time: number; paused: boolean; ended: boolean; failure: string; speed: number; hash?: string; docking?: string; docked?: boolean; inputs?: number }
export interface ModuleInfo {
  type: "module"; name: string; model: string; time: number;
  mind_time?: number;  // s, of percepts, actions, model and mailbox, if they are older than the rest
  joints?: Record<string, unknown>;
  percepts: Record<string, unknown>; actions: Record<string, unknown>; knows?: { type: string; value: unknown };
  mailbox: { dock: string; sent: number; bytes: number }[]; waiting: number;
  docks: { name: string; enabled: boolean; broken: boolean; state: string; partner: string; load: number }[];
  parameters: Record<string, string>;
}
export interface ItemInfo { type: "item"; item: number; state: string[] }
export type TextMessage = Hello | State | ModuleInfo
  | { type: "log"; time: number; module: string; text: string }
  | { type: "metrics"; points: number[][] }
  | ItemInfo
  | { type: "colors"; value: string; least?: number; most?: number }
  | { type: "error"; text: string };

const tag = (view: DataView) => String.fromCharCode(view.getUint8(0), view.getUint8(1), view.getUint8(2), view.getUint8(3));

export function decode(buffer: ArrayBuffer): { tree: RenderTree } | { frame: Frame } | { cloud: CloudNews } | null {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8) return null;
  if (tag(view) === "VXS1") {
    const length = view.getUint32(4, true);
    const info = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length))) as RenderTreeInfo;
    return { tree: { info, buffers: buffer, base: Math.ceil((8 + length) / 4) * 4 } };
  }
  if (tag(view) === "VXC1") {
    const changed = view.getUint32(8, true), at = 12 + changed * 4;
    return { cloud: { items: view.getUint32(4, true), changed: new Uint32Array(buffer, 12, changed), floats: new Float32Array(buffer, at, changed * 4), bytes: new Uint8Array(buffer, at, changed * 16) } };
  }
  if (tag(view) !== "VXF1") return null;
  const [links, docks, rays, messages, colors] = [4, 8, 12, 16, 20].map((at) => view.getUint32(at, true));
  const time = view.getFloat64(24, true);
  const tick = view.getFloat64(32, true);
  let at = 40;
  const take = (bytes: number) => { const begin = at; at = Math.ceil((at + bytes) / 4) * 4; return begin; };
  const link_values = new Float32Array(buffer, take(links * 28), links * 7);
  const dock_bytes = take(docks * 2);
  const rings = () => { const count = at + 4 <= buffer.byteLength ? view.getUint32(take(4), true) : 0; return new Float32Array(buffer, take(count * 16), count * 4); };
  return {
    frame: {
      time, tick, links: link_values,
      flags: new Uint8Array(buffer, dock_bytes, docks), loads: new Uint8Array(buffer, dock_bytes + docks, docks),
      rays: new Float32Array(buffer, take(rays * 24), rays * 6),
      messages: new Uint32Array(buffer, take(messages * 8), messages * 2),
      colors: new Uint8Array(buffer, take(colors * 4), colors * 4),
      rings: rings(),
    },
  };
}

// Who is told what arrives.
export interface Viewer {
  text(message: TextMessage): void;
  tree(tree: RenderTree): void;
  frame(frame: Frame): void;
  cloud(news: CloudNews): void;
  connected(yes: boolean, why: string): void;
}

// Connects, and reconnects when the connection is lost, because the run may have been restarted.
export class Connection {
  private socket: WebSocket | null = null;
  private delay = 250;
  connected = false;

  constructor(private readonly on: Viewer) { this.open(); }

  private open() {
    const address = new URL("socket" + location.search, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => { this.connected = true; this.delay = 250; this.on.connected(true, ""); };
    socket.onmessage = (event) => {
      if (typeof event.data === "string") return this.on.text(JSON.parse(event.data) as TextMessage);
      const decoded = decode(event.data as ArrayBuffer);
      if (decoded && "tree" in decoded) this.on.tree(decoded.tree);
      else if (decoded && "cloud" in decoded) this.on.cloud(decoded.cloud);
      else if (decoded) this.on.frame(decoded.frame);
    };
    socket.onclose = (event) => {
      this.connected = false;
      this.on.connected(false, event.reason);
      setTimeout(() => this.open(), this.delay);
      this.delay = Math.min(5000, this.delay * 1.7);
    };
  }

  send(message: Record<string, unknown>) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
  drop() { this.socket?.close(); }  // for the test of reconnecting
}
