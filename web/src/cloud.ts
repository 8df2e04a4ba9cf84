// A cloud: many small things of one shape, such as the catoms of a lattice or particles of water. One instanced mesh with a place and a colour for each; points
// where they are smaller than a few pixels. Those that others hide on all sides are drawn only where a cut opens the cloud. Lengths in m.
import * as THREE from "three";
import type { CloudNews, CloudInfo } from "./protocol";

const SHOWN = { gone: 0, covered: 1 };  // above: how large it is, in 255ths of the shape
const FEW_PIXELS = 2.5;

// Adds a place, a colour (sRGB) and a size (the fourth of `tint`) for each instance to a material of three.js.
function withPlaces<M extends THREE.Material>(material: M, placed: boolean) {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute vec3 place;\nattribute vec4 tint;\nvarying vec3 vTint;")
      .replace("#include <begin_vertex>", `#include <begin_vertex>\n${placed ? "transformed = transformed * tint.a + place;" : ""}\nvTint = pow(tint.rgb, vec3(2.2));`);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vTint;")
      .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= vTint;");
  };
  return material;
}

export interface Cut { axis: number; at: number }  // what lies beyond it is not shown

export class CloudView {
  readonly object = new THREE.Group();
  info: CloudInfo | null = null;
  cut: Cut | null = null;
  count = 0;  // items that are there
  // By item.
  private items = 0;
  private places = new Float32Array();
  private looks = new Uint8Array();  // red, green, blue, shown
  // Of those that are drawn, one after another.
  private drawn = 0;
  private numbers = new Uint32Array();
  private mesh: THREE.Mesh<THREE.InstancedBufferGeometry> | null = null;
  private points: THREE.Points<THREE.BufferGeometry> | null = null;
  private stale = false;
  readonly bounds = new THREE.Box3();

  clear() {
    for (const object of [...this.object.children] as THREE.Mesh[]) {
      this.object.remove(object);
      object.geometry.dispose();
      (object.material as THREE.Material).dispose();
    }
    this.mesh = this.points = this.info = this.cut = null;
    this.items = this.count = this.drawn = 0;
    this.bounds.makeEmpty();
  }

  load(info: CloudInfo, shape: THREE.BufferGeometry) {
    this.clear();
    this.info = info;
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute("position", shape.getAttribute("position"));
    geometry.setAttribute("normal", shape.getAttribute("normal"));
    geometry.setIndex(shape.getIndex());
    this.mesh = new THREE.Mesh(geometry, withPlaces(new THREE.MeshLambertMaterial({ fog: false }), true));
    this.points = new THREE.Points(new THREE.BufferGeometry(), withPlaces(new THREE.PointsMaterial({ size: 1.05 * info.size[0], fog: false }), false));
    for (const object of [this.mesh, this.points]) object.frustumCulled = false;
    this.object.add(this.mesh, this.points);
    this.reserve(1);
  }

  // Room for so many that are drawn.
  private reserve(count: number) {
    const room = Math.ceil(count * 1.2);
    this.numbers = new Uint32Array(room);
    const places = new Float32Array(room * 3), tints = new Uint8Array(room * 4);
    const geometry = this.mesh!.geometry, points = this.points!.geometry;
    geometry.dispose();
    points.dispose();
    geometry.setAttribute("place", new THREE.InstancedBufferAttribute(places, 3));
    geometry.setAttribute("tint", new THREE.InstancedBufferAttribute(tints, 4, true));
    points.setAttribute("position", new THREE.BufferAttribute(places, 3));
    points.setAttribute("place", new THREE.BufferAttribute(places, 3));
    points.setAttribute("tint", new THREE.BufferAttribute(tints, 4, true));
  }

  apply(news: CloudNews) {
    if (!this.info) return;
    if (news.items > this.items) {
      const places = new Float32Array(news.items * 3), looks = new Uint8Array(news.items * 4);
      places.set(this.places.subarray(0, this.items * 3));
      looks.set(this.looks.subarray(0, this.items * 4));
      [this.items, this.places, this.looks] = [news.items, places, looks];
    }
    const { changed, floats, bytes } = news, { places, looks } = this;
    for (let k = 0; k < changed.length; ++k) {
      const i = changed[k];
      if (i >= this.items) continue;
      places[i * 3] = floats[k * 4];
      places[i * 3 + 1] = floats[k * 4 + 1];
      places[i * 3 + 2] = floats[k * 4 + 2];
      looks[i * 4] = bytes[k * 16 + 12];
      looks[i * 4 + 1] = bytes[k * 16 + 13];
      looks[i * 4 + 2] = bytes[k * 16 + 14];
      looks[i * 4 + 3] = bytes[k * 16 + 15];
    }
    this.stale = true;
    this.measure();
  }

  private measure() {
    const { places, looks, items, bounds } = this, [x, y, z] = this.info!.size;
    let [a, b, c, d, e, f] = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
    this.count = 0;
    for (let i = 0; i < items; ++i) {
      if (looks[i * 4 + 3] === SHOWN.gone) continue;
      ++this.count;
      const u = places[i * 3], v = places[i * 3 + 1], w = places[i * 3 + 2];
      if (u < a) a = u;
      if (v < b) b = v;
      if (w < c) c = w;
      if (u > d) d = u;
      if (v > e) e = v;
      if (w > f) f = w;
    }
    bounds.makeEmpty();
    if (this.count > 0) bounds.set(new THREE.Vector3(a - x / 2, b - y / 2, c - z / 2), new THREE.Vector3(d + x / 2, e + y / 2, f + z / 2));
  }

  setCut(cut: Cut | null) {
    this.cut = cut;
    this.stale = true;
  }

  place(item: number, out = new THREE.Vector3()) { return item < this.items && this.looks[item * 4 + 3] !== SHOWN.gone ? out.fromArray(this.places, item * 3) : null; }
  color(item: number) { return "#" + [0, 1, 2].map((k) => this.looks[item * 4 + k].toString(16).padStart(2, "0")).join(""); }
  radius() { return this.info ? Math.max(...this.info.size) / 2 : 0; }
  shown() { return this.drawn; }

  // Lists what is drawn: what is open, and beside the cut what was covered.
  private list() {
    const { places, looks, items, cut } = this;
    const layer = cut ? cut.at - 1.1 * this.info!.size[cut.axis] : 0;
    const isDrawn = (i: number) => {
      const shown = looks[i * 4 + 3];
      if (shown === SHOWN.gone) return false;
      if (!cut) return shown > SHOWN.covered;
      const along = places[i * 3 + cut.axis];
      return along <= cut.at && (shown > SHOWN.covered || along > layer);
    };
    let count = 0;
    for (let i = 0; i < items; ++i) if (isDrawn(i)) ++count;
    if (count > this.numbers.length) this.reserve(count);
    const place = this.mesh!.geometry.getAttribute("place").array as Float32Array, tint = this.mesh!.geometry.getAttribute("tint").array as Uint8Array;
    let n = 0;
    for (let i = 0; i < items; ++i) {
      if (!isDrawn(i)) continue;
      this.numbers[n] = i;
      for (let k = 0; k < 3; ++k) {
        place[n * 3 + k] = places[i * 3 + k];
        tint[n * 4 + k] = looks[i * 4 + k];
      }
      tint[n * 4 + 3] = looks[i * 4 + 3] > SHOWN.covered ? looks[i * 4 + 3] : 255;
      ++n;
    }
    this.drawn = n;
    this.mesh!.geometry.instanceCount = n;
    this.points!.geometry.setDrawRange(0, n);
    for (const geometry of [this.mesh!.geometry, this.points!.geometry])
      for (const name of ["place", "tint", "position"]) if (name !== "position" || geometry === this.points!.geometry) geometry.getAttribute(name).needsUpdate = true;
    this.stale = false;
  }

  // Before a picture: `pixels` high, seen from `eye`.
  prepare(camera: THREE.PerspectiveCamera, pixels: number) {
    if (!this.mesh || !this.points) return;
    if (this.stale) this.list();
    const near = this.bounds.isEmpty() ? 1 : Math.max(camera.near, this.bounds.distanceToPoint(camera.position));
    const size = (this.info!.size[0] * pixels) / (2 * near * Math.tan((camera.fov * Math.PI) / 360));
    this.points.visible = this.drawn > 0 && size < FEW_PIXELS;
    this.mesh.visible = this.drawn > 0 && !this.points.visible;
  }

  // The item that a ray meets first, or -1.
  pick(ray: THREE.Ray) {
    if (!this.info) return -1;
    const half = new THREE.Vector3(...this.info.size).multiplyScalar(0.5), box = new THREE.Box3(), at = new THREE.Vector3(), hit = new THREE.Vector3();
    let best = -1, nearest = Infinity;
    const reach = half.length(), toward = new THREE.Vector3();
    for (let n = 0; n < this.drawn; ++n) {
      at.fromArray(this.places, this.numbers[n] * 3);
      const along = toward.subVectors(at, ray.origin).dot(ray.direction);
      if (along < -reach || along - reach > nearest || toward.lengthSq() - along * along > reach * reach) continue;
      box.min.subVectors(at, half);
      box.max.addVectors(at, half);
      if (!ray.intersectBox(box, hit)) continue;
      const distance = hit.distanceTo(ray.origin);
      if (distance < nearest) [nearest, best] = [distance, this.numbers[n]];
    }
    return best;
  }
}
