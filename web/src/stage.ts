// What is seen: instanced links and docks, ground, rays, trails, messages; an orbiting camera. Lengths in m, world frame.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { CloudView, type Cut } from "./cloud";
import { THEMES, UNLOADED, circles, dockColor, gridLines, loadColor } from "./look";
import { Water } from "./water";
import { DOCK, type CloudNews, type Frame, type RenderTree } from "./protocol";

// The smallest size of a link, relative to the picture's height, for each level of detail.
const LEVEL_SIZES = [0.12, 0.05, 0.022, 0.012];
const FEW = 400;  // links: shadows and round docks are drawn only up to this number, because they are slow
const TRAIL_LENGTH = 600;
const LABELS = 300;

// Whether WebGL draws on the CPU: then anti-aliasing would cost more than everything else.
function drawnByProcessor() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const renderer = names ? String(gl!.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /llvmpipe|swiftshader|software/i.test(renderer);
}

interface Group { mesh: number; level: number; instances: THREE.InstancedMesh<THREE.BufferGeometry, THREE.MeshLambertMaterial>; count: number }
export interface Inset { left: number; top: number; right: number; bottom: number }  // pixels of the page that are covered


export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(30, 1, 0.01, 500);  // the same field of view as in view/camera.h
  readonly controls: OrbitControls;
  readonly scene = new THREE.Scene();
  show = { docks: true, loads: false, rays: false, trails: false, messages: true, labels: false };
  readonly cloud = new CloudView();
  private readonly water: Water;
  picked = -1;       // a placement
  pickedItem = -1;   // or an item of the cloud
  follow = false;
  frames = 0;        // drawn so far, for tests and for measuring
  private data: RenderTree | null = null;
  private frame: Frame | null = null;
  private groups: Group[] = [];
  private groupsOf: Group[][] = [];   // by mesh, by level
  private docks: THREE.InstancedMesh | null = null;
  private dockPoses: THREE.Matrix4[] = [];
  private world = new THREE.Group();
  private rays = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xe8590c, transparent: true, opacity: 0.55 }));
  // Drawn in front of all bodies, because senders are often surrounded by others.
  private rings = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xae3ec9, transparent: true, opacity: 0.5, depthTest: false }));
  private messages = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xae3ec9 }));
  private trails = new Map<number, { points: number[]; line: THREE.Line }>();
  private halo: THREE.Mesh;
  private sun: THREE.DirectionalLight;
  private sky: THREE.HemisphereLight;
  private theme = THEMES.light;
  private ground: THREE.Object3D[] = [];
  private grids: { grid: ReturnType<typeof gridLines>; step: number }[] = [];
  private readonly haze = new THREE.Fog(0, 1, 2);
  private tinted = false;  // links have the colours of their loads
  private centred = false;  // on what is not covered
  inset = (): Inset => ({ left: 0, top: 0, right: 0, bottom: 0 });  // what panels cover
  private homed = false;
  private lastTarget = new THREE.Vector3();
  private labelElements: HTMLSpanElement[] = [];
  private dirty = true;   // the picture must be drawn again
  private stale = true;   // and not only because the camera has moved

  constructor(private readonly canvas: HTMLCanvasElement, private readonly labels: HTMLElement) {
    const coarse = drawnByProcessor();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !coarse, preserveDrawingBuffer: true });
    this.water = new Water(this.renderer, coarse);
    if (this.water.possible) this.cloud.water = this.water;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene.fog = this.haze;
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(1.2, -1.6, 0.9);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => { this.dirty = true; });
    this.sky = new THREE.HemisphereLight(0xffffff, 0, 1);
    this.scene.add(this.sky);
    this.sun = new THREE.DirectionalLight(0xffffff, 2.1);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.scene.add(this.sun, this.sun.target, this.world, this.cloud.object, this.rays, this.messages, this.rings);
    for (const lines of [this.rays, this.messages, this.rings]) lines.frustumCulled = false;
    this.halo = new THREE.Mesh(new THREE.TorusGeometry(1, 0.03, 8, 48), new THREE.MeshBasicMaterial({ color: 0x2463c9, depthTest: false, transparent: true }));  // drawn last, in front of everything
    this.halo.visible = false;
    this.scene.add(this.halo);
    this.setTheme("light");
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    const animate = () => { requestAnimationFrame(animate); this.draw(); };
    animate();
  }

  private resize() {
    const width = this.canvas.clientWidth || 800, height = this.canvas.clientHeight || 600;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.centre(this.centred);
    this.dirty = true;
  }

  setTheme(name: "light" | "dark") {
    this.theme = THEMES[name];
    this.scene.background = this.haze.color = this.theme.sky;
    this.sky.groundColor.set(this.theme.shade);
    this.sky.intensity = 1.9 * this.theme.light;
    this.sun.intensity = 2.1 * this.theme.light;
    if (this.data) this.addGrounds();
    this.redraw();
  }

  load(data: RenderTree) {
    this.clear();
    this.data = data;
    const { info, buffers, base } = data;
    const uses = info.meshes.map(() => 0);
    for (const [mesh] of info.links) if (mesh >= 0) ++uses[mesh];
    info.meshes.forEach((mesh, m) => {
      this.groupsOf[m] = mesh.levels.map((level, l) => {
        const bytes = new Uint8Array(buffers.slice(base + level.vertices_at, base + level.vertices_at + level.vertices * 28));
        const geometry = new THREE.BufferGeometry();
        const floats = new THREE.InterleavedBuffer(new Float32Array(bytes.buffer), 7);
        geometry.setAttribute("position", new THREE.InterleavedBufferAttribute(floats, 3, 0));
        geometry.setAttribute("normal", new THREE.InterleavedBufferAttribute(floats, 3, 3));
        const colors = new Float32Array(level.vertices * 3);
        const color = new THREE.Color();
        for (let v = 0; v < level.vertices; ++v) {
          color.setRGB(bytes[v * 28 + 24] / 255, bytes[v * 28 + 25] / 255, bytes[v * 28 + 26] / 255, THREE.SRGBColorSpace);
          colors.set([color.r, color.g, color.b], v * 3);
        }
        geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
        geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(buffers.slice(base + level.indices_at, base + level.indices_at + level.indices * 4)), 1));
        // Lambert shading and front faces only: half the work when the CPU draws (llvmpipe).
        const material = new THREE.MeshLambertMaterial({ vertexColors: true, fog: false, transparent: mesh.translucent, opacity: !mesh.translucent ? 1 : info.cloud?.drops ? 0.25 : 0.5, depthWrite: !(mesh.translucent && info.cloud?.drops) });
        const instances = new THREE.InstancedMesh(geometry, material, Math.max(1, uses[m]));
        instances.frustumCulled = false;
        instances.castShadow = instances.receiveShadow = info.links.length <= FEW;
        instances.count = 0;
        instances.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(instances.instanceMatrix.count * 3).fill(1), 3);
        this.world.add(instances);
        const group = { mesh: m, level: l, instances, count: 0 };
        this.groups.push(group);
        return group;
      });
    });
    if (info.cloud) {
      // The finest level that is not too much for many.
      const levels = this.groupsOf[info.cloud.mesh], light = levels.find((_, l) => info.meshes[info.cloud!.mesh].levels[l].indices <= 3 * 200) ?? levels[levels.length - 1];
      this.cloud.load(info.cloud, light.instances.geometry);
    }
    if (info.docks.length > 0) {
      const disc = info.links.length > FEW ? new THREE.CircleGeometry(1, 8).rotateY(Math.PI / 2).translate(0.11, 0, 0)
        : new THREE.CylinderGeometry(1, 1, 0.22, 20).rotateZ(Math.PI / 2);
      this.docks = new THREE.InstancedMesh(disc, new THREE.MeshLambertMaterial({ fog: false }), info.docks.length);
      this.docks.frustumCulled = false;
      this.docks.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(info.docks.length * 3), 3);
      this.world.add(this.docks);
      this.dockPoses = info.docks.map((dock) => {
        const [x, y, z, a, b, c, d] = dock.pose;
        const radius = this.dockRadius(dock.link);
        return new THREE.Matrix4().compose(new THREE.Vector3(x, y, z), new THREE.Quaternion(a, b, c, d), new THREE.Vector3(radius, radius, radius));
      });
    }
    this.sun.castShadow = info.links.length <= FEW;
    this.addGrounds();
    this.tinted = false;
    this.homed = false;
    this.redraw();
  }

  private dockRadius(link: number) {
    const mesh = this.data!.info.links[link]?.[0] ?? -1;
    return mesh >= 0 ? Math.max(0.002, this.data!.info.meshes[mesh].radius * 0.16) : 0.01;
  }

  private addGrounds() {
    for (const object of this.ground) this.scene.remove(object);
    this.ground = [];
    this.grids = [];
    const { grounds } = this.data!.info;
    for (const ground of grounds) this.addGround(ground.pose, ground.color);
    if (grounds.length === 0) this.addGrid();
  }

  private addGround(pose: number[], color: number[]) {
    const [x, y, z, a, b, c, d] = pose;
    const plane = new THREE.Mesh(new THREE.PlaneGeometry(400, 400), this.data!.info.links.length <= FEW
      ? new THREE.MeshLambertMaterial({ color: new THREE.Color(`rgb(${color.join(",")})`).lerp(this.theme.ground, 1 - this.theme.own) })
      : new THREE.MeshBasicMaterial({ color: this.theme.sky, fog: false }));
    Object.assign(plane.material, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 8 });  // behind its grid lines at any distance
    plane.position.set(x, y, z - 0.0005);
    plane.quaternion.set(a, b, c, d);
    plane.receiveShadow = this.data!.info.links.length <= FEW;
    const holder = new THREE.Group();
    holder.add(plane);
    for (const [i, [size, step]] of [[1000, 10], [100, 1], [10, 0.1]].entries()) {
      const grid = gridLines(size, step, this.theme.lines[i], i === 0);
      this.grids.push({ grid, step });
      const turned = new THREE.Group();
      turned.position.set(x, y, z);
      turned.quaternion.set(a, b, c, d);
      turned.add(grid);
      holder.add(turned);
    }
    this.ground.push(holder);
    this.scene.add(holder);
  }

  private addGrid() {
    const grid = gridLines(2, 0.1, this.theme.lines[2], true);
    const holder = new THREE.Group();
    holder.position.z = -0.12;
    holder.add(grid);
    this.ground.push(holder);
    this.scene.add(holder);
  }

  private clear() {
    for (const object of [...this.world.children]) {
      this.world.remove(object);
      if (object instanceof THREE.InstancedMesh) { object.geometry.dispose(); (object.material as THREE.Material).dispose(); object.dispose(); }
    }
    this.cloud.clear();
    this.pickedItem = -1;
    for (const trail of this.trails.values()) this.scene.remove(trail.line);
    this.trails.clear();
    this.groups = [];
    this.groupsOf = [];
    this.docks = null;
    this.frame = null;
    this.picked = -1;
  }

  update(frame: Frame) {
    if (!this.data || frame.links.length !== this.data.info.links.length * 7) return;
    this.frame = frame;
    this.redraw();
    if (!this.homed) { this.home(); this.homed = true; }
    if (this.show.trails) this.extendTrails(frame);
  }
  updateCloud(news: CloudNews) {
    this.cloud.apply(news);
    this.redraw();
  }
  cut(cut: Cut | null) {
    this.cloud.setCut(cut);
    this.redraw();
  }
  redraw() { this.dirty = this.stale = true; }
  currentFrame() { return this.frame; }

  // The position of a placement is that of its first link.
  place(placement: number, out = new THREE.Vector3()) {
    const thing = this.data!.info.things[placement];
    const at = thing.first_link * 7;
    return out.set(this.frame!.links[at], this.frame!.links[at + 1], this.frame!.links[at + 2]);
  }

  private box() {
    const box = new THREE.Box3();
    const at = new THREE.Vector3();
    const any = this.data!.info.things.some((thing) => thing.module);
    this.data!.info.links.forEach(([mesh, placement], link) => {
      if (mesh < 0 || (any && !this.data!.info.things[placement].module)) return;
      const radius = this.data!.info.meshes[mesh].radius;
      at.fromArray(this.frame!.links, link * 7);
      box.expandByPoint(at.clone().addScalar(radius)).expandByPoint(at.clone().addScalar(-radius));
    });
    box.union(this.cloud.bounds);
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
    return box;
  }

  // Shows everything, in the part of the canvas that no panel covers.
  home() {
    if (!this.data || !this.frame) return;
    const sphere = this.box().getBoundingSphere(new THREE.Sphere());
    const { left, top, right, bottom } = this.inset(), width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const slope = Math.tan((this.camera.fov * Math.PI) / 360) / height;  // of the view, for each pixel
    const distance = sphere.radius / Math.sin(Math.atan(slope * Math.max(50, Math.min(width - left - right, height - top - bottom))));
    this.look(sphere.center.clone().addScaledVector(new THREE.Vector3(0.55, -0.8, 0.5).normalize(), distance), sphere.center, true);
    this.controls.maxDistance = distance * 20 + 20;
  }

  // Moves the centre of the view to the middle of what is not covered, or back to that of the canvas.
  private centre(free: boolean) {
    this.centred = free;
    const { left, top, right, bottom } = this.inset(), width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (free && width > 0) this.camera.setViewOffset(width, height, (right - left) / 2, (bottom - top) / 2, width, height);
    else this.camera.clearViewOffset();
    this.camera.updateProjectionMatrix();
  }

  look(eye: THREE.Vector3, target: THREE.Vector3, free = false) {
    this.camera.position.copy(eye);
    this.controls.target.copy(target);
    this.controls.update();
    const distance = eye.distanceTo(target);
    this.camera.near = Math.max(0.002, distance / 500);
    this.camera.far = Math.max(100, distance * 20);
    this.centre(free);
    this.dirty = true;
  }

  private readonly matrix = new THREE.Matrix4();
  private readonly at = new THREE.Vector3();
  private readonly turn = new THREE.Quaternion();
  private readonly one = new THREE.Vector3(1, 1, 1);

  private linkMatrix(link: number) {
    const values = this.frame!.links, i = link * 7;
    this.at.set(values[i], values[i + 1], values[i + 2]);
    this.turn.set(values[i + 3], values[i + 4], values[i + 5], values[i + 6]);
    return this.matrix.compose(this.at, this.turn, this.one);
  }

  private placeLinks() {
    const { info } = this.data!;
    for (const group of this.groups) group.count = 0;
    const tints = this.show.loads ? this.loadTints() : null;
    if (this.tinted !== this.show.loads) this.tint(this.show.loads);
    const perMetre = 1 / Math.tan((this.camera.fov * Math.PI) / 360);
    const eye = this.camera.position;
    for (let link = 0; link < info.links.length; ++link) {
      const mesh = info.links[link][0];
      if (mesh < 0) continue;
      this.linkMatrix(link);
      const levels = this.groupsOf[mesh];
      const size = (info.meshes[mesh].radius * perMetre) / Math.max(1e-6, eye.distanceTo(this.at));
      let level = 0;
      while (level < levels.length - 1 && level < LEVEL_SIZES.length && size < LEVEL_SIZES[level]) ++level;
      const group = levels[level];
      if (tints) tints[link].toArray(group.instances.instanceColor!.array, group.count * 3);
      this.matrix.toArray(group.instances.instanceMatrix.array, group.count++ * 16);
    }
    for (const group of this.groups) {
      group.instances.count = group.count;
      group.instances.visible = group.count > 0;
      group.instances.instanceMatrix.needsUpdate = true;
      if (tints) group.instances.instanceColor!.needsUpdate = true;
    }
  }

  // The colour of each link by the load of its docks, as in volvox picture --docks load: an engaged dock's own face is
  // between two modules, where nobody sees it.
  private loadTints() {
    const { info } = this.data!, loads = new Float32Array(info.links.length).fill(-1);
    info.docks.forEach((dock, i) => {
      if (this.frame!.flags[i] & (DOCK.engaged | DOCK.latching)) loads[dock.link] = Math.max(loads[dock.link], this.frame!.loads[i] / 255);
    });
    const own = new THREE.Color(1, 1, 1);  // of what is no module
    return info.links.map(([, placement], link) => !info.things[placement].module ? own : loads[link] < 0 ? UNLOADED : loadColor(loads[link], new THREE.Color()));
  }
  private tint(on: boolean) {
    this.tinted = on;
    const { info } = this.data!, ofModules = new Set(info.links.filter(([, placement]) => info.things[placement].module).map(([mesh]) => mesh));
    for (const { mesh, instances } of this.groups) {
      const tinted = on && ofModules.has(mesh);
      if (!tinted) { (instances.instanceColor!.array as Float32Array).fill(1); instances.instanceColor!.needsUpdate = true; }
      instances.material.vertexColors = !tinted;
      instances.material.needsUpdate = true;
    }
  }

  private placeDocks() {
    if (!this.docks) return;
    if (!this.docksAreShown()) return;
    const { info } = this.data!;
    const color = new THREE.Color();
    const whole = new THREE.Matrix4();
    for (let dock = 0; dock < info.docks.length; ++dock) {
      whole.multiplyMatrices(this.linkMatrix(info.docks[dock].link), this.dockPoses[dock]);
      whole.toArray(this.docks.instanceMatrix.array, dock * 16);
      dockColor(info.docks[dock].gender, this.frame!.flags[dock], color);
      color.toArray(this.docks.instanceColor!.array, dock * 3);
    }
    this.docks.instanceMatrix.needsUpdate = true;
    this.docks.instanceColor!.needsUpdate = true;
  }

  // Their colours, blue and green, would be taken for loads.
  private docksAreShown() { return this.show.docks && !this.show.loads; }

  // With thousands of modules seen from far away, a dock is smaller than a pixel.
  private docksAreSeen() {
    if (this.data!.info.links.length <= FEW) return true;
    const radius = this.dockRadius(this.data!.info.docks[0].link);
    return radius / Math.tan((this.camera.fov * Math.PI) / 360) / this.camera.position.distanceTo(this.controls.target) > 0.004;
  }

  private dockPlace(dock: number, out: THREE.Vector3) {
    return out.setFromMatrixPosition(this.dockPoses[dock]).applyMatrix4(this.linkMatrix(this.data!.info.docks[dock].link));
  }

  private setLines(lines: THREE.LineSegments, points: Float32Array) {
    lines.geometry.dispose();
    lines.geometry = new THREE.BufferGeometry();
    lines.geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
    lines.visible = points.length > 0;
  }

  private placeLinesAndHalo() {
    this.setLines(this.rays, this.show.rays ? this.frame!.rays : new Float32Array());
    if (this.show.messages) {
      // Messages on wires: from the sender's link through both docks to the receiver's link.
      const { info } = this.data!;
      const pairs = this.frame!.messages;
      const points = new Float32Array(pairs.length * 6);
      const p = new THREE.Vector3();
      for (let i = 0; i < pairs.length; i += 2) {
        if (pairs[i] >= info.docks.length || pairs[i + 1] >= info.docks.length) continue;
        for (const [k, dock] of [pairs[i], pairs[i + 1]].entries()) {
          p.fromArray(this.frame!.links, info.docks[dock].link * 7).toArray(points, i * 6 + k * 6);
          this.dockPlace(dock, p).toArray(points, i * 6 + k * 6 + 3);
        }
      }
      for (let i = 2; i < points.length; i += 3) points[i] += 0.06;  // above the bodies, so that it is visible
      this.setLines(this.messages, points);
      this.setLines(this.rings, circles(this.frame!.rings, this.camera.position.distanceTo(this.controls.target)));
    } else for (const lines of [this.messages, this.rings]) this.setLines(lines, new Float32Array());
    const item = this.pickedItem >= 0 ? this.cloud.place(this.pickedItem) : null;
    this.halo.visible = this.picked >= 0 || item !== null;
    if (item) {
      this.halo.position.copy(item);
      this.halo.scale.setScalar(this.cloud.radius() * 2);
    }
    if (this.picked < 0) return;
    this.place(this.picked, this.halo.position);
    const thing = this.data!.info.things[this.picked];
    let radius = 0.05;
    for (let l = 0; l < thing.links; ++l) {
      const mesh = this.data!.info.links[thing.first_link + l][0];
      if (mesh >= 0) radius = Math.max(radius, this.data!.info.meshes[mesh].radius);
    }
    this.halo.scale.setScalar(radius * 1.6);
    if (this.follow) {
      const step = this.halo.position.clone().sub(this.lastTarget);
      if (this.lastTarget.lengthSq() > 0) { this.camera.position.add(step); this.controls.target.add(step); }
      this.lastTarget.copy(this.halo.position);
    } else this.lastTarget.set(0, 0, 0);
  }

  private extendTrails(frame: Frame) {
    const { info } = this.data!;
    const wanted = this.picked >= 0 ? [this.picked] : info.things.map((thing, i) => (thing.module ? i : -1)).filter((i) => i >= 0).slice(0, 200);
    for (const placement of wanted) {
      let trail = this.trails.get(placement);
      if (!trail) {
        trail = { points: [], line: new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: new THREE.Color().setHSL((placement * 0.618) % 1, 0.7, 0.45) })) };
        trail.line.frustumCulled = false;
        this.trails.set(placement, trail);
        this.scene.add(trail.line);
      }
      const at = info.things[placement].first_link * 7;
      trail.points.push(frame.links[at], frame.links[at + 1], frame.links[at + 2]);
      if (trail.points.length > TRAIL_LENGTH * 3) trail.points.splice(0, 3);
      trail.line.geometry.dispose();
      trail.line.geometry = new THREE.BufferGeometry();
      trail.line.geometry.setAttribute("position", new THREE.Float32BufferAttribute(trail.points, 3));
    }
  }
  forgetTrails() {
    for (const trail of this.trails.values()) this.scene.remove(trail.line);
    this.trails.clear();
    this.dirty = true;
  }

  // Names of the modules or, for a single robot, of its docks, for those nearest to the eye.
  labelDocks = false;
  private placeLabels() {
    const { info } = this.data!;
    const wanted: { text: string; at: THREE.Vector3; depth: number }[] = [];
    this.camera.updateMatrixWorld();  // it may have followed a module since the last picture
    if (this.show.labels) {
      const add = (text: string, at: THREE.Vector3) => {
        const seen = at.clone().project(this.camera);
        if (Math.abs(seen.x) < 1 && Math.abs(seen.y) < 1 && seen.z < 1) wanted.push({ text, at: seen, depth: at.distanceTo(this.camera.position) });
      };
      if (this.labelDocks) info.docks.forEach((dock, i) => add(dock.name, this.dockPlace(i, new THREE.Vector3())));
      else info.things.forEach((thing, i) => { if (thing.module) add(thing.name, this.place(i)); });
      wanted.sort((a, b) => a.depth - b.depth).splice(LABELS);
    }
    while (this.labelElements.length < wanted.length) this.labelElements.push(this.labels.appendChild(document.createElement("span")));
    this.labelElements.forEach((element, i) => {
      const label = wanted[i];
      element.hidden = !label;
      if (!label) return;
      element.textContent = label.text;
      element.style.left = `${((label.at.x + 1) / 2) * this.canvas.clientWidth}px`;
      element.style.top = `${((1 - label.at.y) / 2) * this.canvas.clientHeight}px`;
    });
  }

  // Grid lines only a few pixels apart would form a gray area, so they fade out before, and the distant ground fades
  // into the sky.
  private fadeGrids() {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const pixels = this.canvas.clientHeight / (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360));  // per metre, at the target
    for (const { grid, step } of this.grids) {
      grid.material.opacity = Math.min(1, Math.max(0, (step * pixels - 6) / 12));
      grid.visible = grid.material.opacity > 0;
    }
    this.haze.near = 2.2 * distance;
    this.haze.far = 8 * distance;
  }

  always = false;  // draw even if nothing has changed, to measure the speed
  private fence: WebGLSync | null = null;
  // Releases the fence of the last picture; false if that picture is not finished yet. If drawing is slow, pictures
  // must not queue up, because the page would lag more and more.
  private releaseFence() {
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    if (this.fence && gl.clientWaitSync(this.fence, 0, 0) === gl.TIMEOUT_EXPIRED) return false;
    gl.deleteSync(this.fence);
    this.fence = null;
    return true;
  }
  private render() {
    const { info, bounds } = this.cloud;
    if (!info || this.water.count === 0) {
      this.renderer.setRenderTarget(null);
      this.renderer.render(this.scene, this.camera);
      return;
    }
    const sun = this.sun.position.clone().sub(this.sun.target.position);
    const clear = this.groups.filter((group) => group.instances.material.transparent && group.instances.count > 0).map((group) => group.instances);
    this.water.draw(this.scene, this.camera, clear, bounds, info.dropSize, info.fluid, { sun, horizon: this.theme.sky, zenith: this.theme.zenith, light: this.theme.light });
  }
  private draw(at_once = false) {
    if ((!this.dirty && !this.always) || (!at_once && !this.releaseFence())) return;
    this.dirty = false;
    if (this.data && !this.frame) return;  // before the first frame all links are at the origin; drawing them there would be very slow
    if (this.data && this.frame) {
      if (this.stale) {
        this.placeLinesAndHalo();
        this.placeDocks();
      }
      if (this.docks) this.docks.visible = this.docksAreShown() && this.docksAreSeen();
      this.placeLinks();  // at levels of detail that depend on the camera
      this.placeLabels();
    }
    this.stale = false;
    this.cloud.prepare(this.camera, this.canvas.clientHeight);
    this.fadeGrids();
    const target = this.controls.target, reach = Math.max(0.6, Math.min(8, this.camera.position.distanceTo(target)));
    this.sun.target.position.copy(target);
    this.sun.position.copy(target).add(new THREE.Vector3(-0.5, -0.6, 1.4).multiplyScalar(reach * 2));
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.right, shadow.top, shadow.bottom, shadow.near, shadow.far] = [-reach, reach, reach, -reach, 0.01, reach * 6];
    shadow.updateProjectionMatrix();
    this.sun.shadow.normalBias = reach * 0.008;  // about two texels; a smaller bias leaves stripes on curved surfaces
    this.halo.quaternion.copy(this.camera.quaternion);
    this.render();
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    gl.deleteSync(this.fence);
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    ++this.frames;
  }

  // The module under a point of the canvas, or -1.
  pick(x: number, y: number): number {
    if (!this.data || !this.frame) return -1;
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((x / this.canvas.clientWidth) * 2 - 1, 1 - (y / this.canvas.clientHeight) * 2), this.camera);
    const { info } = this.data;
    const sphere = new THREE.Sphere();
    const candidates: { link: number; distance: number }[] = [];
    info.links.forEach(([mesh], link) => {
      if (mesh < 0) return;
      sphere.set(this.at.fromArray(this.frame!.links, link * 7), info.meshes[mesh].radius);
      if (caster.ray.intersectsSphere(sphere)) candidates.push({ link, distance: sphere.center.distanceTo(caster.ray.origin) });
    });
    candidates.sort((a, b) => a.distance - b.distance);
    let best = { placement: -1, distance: Infinity };
    for (const { link } of candidates.slice(0, 64)) {  // the rays hit their spheres; now test the triangles
      const [mesh, placement] = info.links[link];
      const body = new THREE.Mesh(this.groupsOf[mesh][0].instances.geometry, new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }));
      body.matrixWorld.copy(this.linkMatrix(link));
      const hit = caster.intersectObject(body, false)[0];
      if (hit && hit.distance < best.distance) best = { placement, distance: hit.distance };
    }
    return best.placement;
  }

  // The item of the cloud under a point of the canvas, or -1.
  pickItem(x: number, y: number): number {
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((x / this.canvas.clientWidth) * 2 - 1, 1 - (y / this.canvas.clientHeight) * 2), this.camera);
    return this.cloud.pick(caster.ray);
  }

  picture(): string {
    const { coarse } = this.water;
    this.water.coarse = false;
    this.redraw();
    this.draw(true);
    this.water.coarse = coarse;
    return this.canvas.toDataURL("image/png");
  }
}
