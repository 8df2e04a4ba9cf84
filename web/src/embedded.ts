// A recording that lies in the page itself: plays it without a server, in the place of a Connection.
// src/volvox/view/web/page.cpp writes it: u32 bytes, u32 kind (0: text, 1: bytes), the content, padding to 4, and so on.
import { decode, DOCK, type CloudNews, type Frame, type Hello, type RenderTree, type Viewer } from "./protocol";

interface Shown { frame: Frame; cloud: CloudNews | null }  // the cloud: what has changed since the frame before

function* messages(bytes: ArrayBuffer) {
  const view = new DataView(bytes);
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    const size = view.getUint32(at, true), text = view.getUint32(at + 4, true) === 0;
    yield { text, content: bytes.slice(at + 8, at + 8 + size) };
    at += 8 + Math.ceil(size / 4) * 4;
  }
}

export class Embedded {
  connected = true;
  private hello!: Hello;
  private tree!: RenderTree;
  private shown: Shown[] = [];
  private at = 0;
  private cloudAt = -1;  // the frame whose cloud is shown
  private paused = true;
  private drawing = false;  // the next frame is asked for: there is one such chain at most
  private speed = 1;
  private begin = { moment: 0, time: 0 };  // of playing: when, and the time of the recording then
  private watched = "";

  constructor(source: HTMLElement, private readonly on: Viewer) {
    let cloud: CloudNews | null = null;
    for (const { text, content } of messages(Uint8Array.from(atob(source.textContent ?? ""), (c) => c.charCodeAt(0)).buffer)) {
      if (text) { this.hello = JSON.parse(new TextDecoder().decode(content)) as Hello; continue; }
      const decoded = decode(content);
      if (decoded && "tree" in decoded) this.tree = decoded.tree;
      else if (decoded && "cloud" in decoded) cloud = decoded.cloud;
      else if (decoded) { this.shown.push({ frame: decoded.frame, cloud }); cloud = null; }
    }
    source.textContent = "";  // the text is not needed again
    // When the page is whole: who listens may not be ready yet.
    setTimeout(() => { on.connected(true, ""); on.text(this.hello); on.tree(this.tree); this.show(); }, 0);
  }

  send(message: Record<string, unknown>) {
    const number = (key: string, otherwise: number) => (typeof message[key] === "number" ? (message[key] as number) : otherwise);
    const last = this.shown.length - 1;
    switch (message.type) {
      case "play":
        if (this.at === last) this.at = 0;
        this.anchor();
        if (this.paused && !this.drawing) { this.drawing = true; requestAnimationFrame(this.play); }
        this.paused = false;
        break;
      case "pause": this.paused = true; break;
      case "step": this.paused = true; this.at = Math.min(last, this.at + number("ticks", 1)); break;
      case "speed": this.speed = number("factor", 1); this.anchor(); break;
      case "seek": this.at = this.frameOf(number("tick", 0)); this.anchor(); break;
      case "reset": this.at = 0; this.anchor(); break;
      case "watch": this.watched = typeof message.module === "string" ? message.module : ""; break;
      default: return;
    }
    this.show();
  }
  drop() { /* there is nothing to lose */ }

  private anchor() { this.begin = { moment: performance.now(), time: this.shown[this.at].frame.time }; }

  // The last frame at this tick or before it.
  private frameOf(tick: number) {
    let low = 0, high = this.shown.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.shown[middle].frame.tick <= tick) low = middle; else high = middle - 1;
    }
    return low;
  }

  private play = () => {
    if (this.paused) { this.drawing = false; return; }
    const last = this.shown.length - 1, now = this.begin.time + ((performance.now() - this.begin.moment) / 1000) * this.speed;
    let next = this.at;
    if (this.speed === 0) next = Math.min(last, this.at + 1);
    else while (next < last && this.shown[next + 1].frame.time <= now) ++next;
    if (next === last) this.paused = true;
    if (next !== this.at || this.paused) { this.at = next; this.show(); }
    requestAnimationFrame(this.play);
  };

  private show() {
    const { frame } = this.shown[this.at];
    if (this.cloudAt > this.at) this.cloudAt = -1;  // backwards: from the beginning, because only changes are known
    while (this.cloudAt < this.at) {
      const { cloud } = this.shown[++this.cloudAt];
      if (cloud) this.on.cloud(cloud);
    }
    this.on.frame(frame);
    this.on.text({ type: "state", tick: frame.tick, time: frame.time, paused: this.paused, ended: this.at === this.shown.length - 1, failure: "", speed: this.speed });
    if (this.watched) this.tellWatched(frame);
  }

  // The docks of the selected module: what else was recorded of it is not in the page.
  private tellWatched(frame: Frame) {
    const { info } = this.tree, thing = info.things.find((each) => each.name === this.watched);
    if (!thing) return;
    const docks = Array.from({ length: thing.docks }, (_, i) => {
      const index = thing.first_dock + i, flags = frame.flags[index];
      const state = flags & DOCK.engaged ? "engaged" : flags & DOCK.latching ? "latching" : "free";
      return { name: info.docks[index].name, enabled: (flags & DOCK.enabled) !== 0, broken: (flags & DOCK.broken) !== 0, state, partner: "", load: frame.loads[index] / 255 };
    });
    this.on.text({ type: "module", name: thing.name, model: thing.model, time: frame.time, percepts: {}, actions: {}, mailbox: [], waiting: 0, docks, parameters: {} });
  }
}
