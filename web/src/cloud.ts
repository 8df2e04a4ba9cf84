// A cloud: many small things of one shape, such as the catoms of a lattice or particles of water. One instanced mesh with a place and a colour for each; points
// where they are smaller than a few pixels. Those that others hide on all sides are drawn only where a cut opens the cloud. Lengths in m.
import * as THREE from "three";
import type { CloudNews, CloudInfo } from "./protocol";
import type { Water } from "./water";

const SHOWN = { gone: 0, covered: 1 };  // above: how large it is, in 255ths of the shape
const FEW_PIXELS = 2.5;

const TORN = 1.6;  // of its length at rest: so far only a thread that has torn goes

// Adds a place, a colour (sRGB) and a size (the fourth of `tint`) for each instance to a material of three.js.
function withPlaces<M extends THREE.Material>(material: M, placed: boolean, turned: boolean) {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\nattribute vec3 place;\nattribute vec4 tint;\nattribute float number;\nvarying vec3 vTint;
        mat3 lie(float n) {
          vec3 a = 6.2832 * fract(n * vec3(0.6180340, 0.7548777, 0.5698403)), s = sin(a), c = cos(a);
          return mat3(c.z, s.z, 0, -s.z, c.z, 0, 0, 0, 1) * mat3(1, 0, 0, 0, c.y, s.y, 0, -s.y, c.y) * mat3(c.x, s.x, 0, -s.x, c.x, 0, 0, 0, 1);
        }`)
      .replace("#include <beginnormal_vertex>", `#include <beginnormal_vertex>\n${turned ? "objectNormal = lie(number) * objectNormal;" : ""}`)
      .replace("#include <begin_vertex>", `#include <begin_vertex>\n${placed ? `transformed = ${turned ? "lie(number) * " : ""}transformed * tint.a + place;` : ""}\nvTint = pow(tint.rgb, vec3(2.2));`);
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
  private alone = 0;  // of them, that are not drops of a surface
  private numbers = new Uint32Array();
  private mesh: THREE.Mesh<THREE.InstancedBufferGeometry> | null = null;
  private points: THREE.Points<THREE.BufferGeometry> | null = null;
  private sheets: THREE.Mesh<THREE.BufferGeometry> | null = null;
  private stale = false;
  readonly bounds = new THREE.Box3();
  water: Water | null = null;  // draws the drops; null: they are balls

  clear() {
    this.water?.placed(0);
    for (const object of [...this.object.children] as THREE.Mesh[]) {
      this.object.remove(object);
      object.geometry.dispose();
      (object.material as THREE.Material).dispose();
    }
    this.mesh = this.points = this.info = this.cut = this.sheets = null;
    this.items = this.count = this.drawn = this.alone = 0;
    this.bounds.makeEmpty();
  }

  load(info: CloudInfo, shape: THREE.BufferGeometry) {
    this.clear();
    this.info = info;
    // Drops are round: where they are balls, grains are, too.
    const stones = info.stone === true && (!info.drops || this.water !== null);
    if (info.stone && !stones) shape = new THREE.IcosahedronGeometry(info.size[0] / 2, 1);
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setAttribute("position", shape.getAttribute("position"));
    geometry.setAttribute("normal", shape.getAttribute("normal"));
    geometry.setIndex(shape.getIndex());
    this.mesh = new THREE.Mesh(geometry, withPlaces(new THREE.MeshLambertMaterial({ fog: false }), true, stones));
    this.points = new THREE.Points(new THREE.BufferGeometry(), withPlaces(new THREE.PointsMaterial({ size: 1.05 * info.size[0], fog: false }), false, false));
    this.sheets = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshLambertMaterial({ fog: false, side: THREE.DoubleSide, vertexColors: true }));
    this.sheets.castShadow = this.sheets.receiveShadow = true;
    for (const object of [this.mesh, this.points, this.sheets]) object.frustumCulled = false;
    this.object.add(this.mesh, this.points, this.sheets);
    this.mesh.castShadow = this.mesh.receiveShadow = stones;
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
    geometry.setAttribute("number", new THREE.InstancedBufferAttribute(new Float32Array(room), 1));
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

  private inSheet(i: number) { return (this.info!.sheets ?? []).some((s) => i >= s.first && i < s.first + s.columns * s.rows); }

  // Cloth: a triangle mesh with holes where it has torn.
  private placeSheets(isDrawn: (i: number) => boolean) {
    const { places, looks } = this, positions: number[] = [], colors: number[] = [], indices: number[] = [], color = new THREE.Color();
    for (const { first, columns, rows, along, across } of this.info!.sheets ?? []) {
      if (first + columns * rows > this.items) continue;
      const base = positions.length / 3;
      for (let i = first; i < first + columns * rows; ++i) {
        positions.push(places[i * 3], places[i * 3 + 1], places[i * 3 + 2]);
        color.setRGB(looks[i * 4] / 255, looks[i * 4 + 1] / 255, looks[i * 4 + 2] / 255, THREE.SRGBColorSpace);
        colors.push(color.r, color.g, color.b);
      }
      const far = (a: number, b: number, rest: number) => Math.hypot(places[a * 3] - places[b * 3], places[a * 3 + 1] - places[b * 3 + 1], places[a * 3 + 2] - places[b * 3 + 2]) > TORN * rest;
      for (let r = 0; r + 1 < rows; ++r) {
        for (let c = 0; c + 1 < columns; ++c) {
          const a = first + r * columns + c, b = a + 1, d = a + columns, e = d + 1;
          if (![a, b, d, e].every(isDrawn) || far(a, b, along) || far(d, e, along) || far(a, d, across) || far(b, e, across)) continue;
          const o = base - first;
          indices.push(a + o, b + o, e + o, a + o, e + o, d + o);
        }
      }
    }
    const geometry = this.sheets!.geometry;
    geometry.dispose();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
    geometry.setIndex(indices);
    geometry.computeVertexNormals();
    this.sheets!.visible = indices.length > 0;
  }

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
    this.placeSheets(isDrawn);
    const drops = this.water ? Math.min(items, this.info!.drops ?? 0) : 0, sheets = (this.info!.sheets ?? []).length > 0;
    const alone = (i: number) => isDrawn(i) && !(sheets && this.inSheet(i));
    let count = 0;
    for (let i = 0; i < items; ++i) if (alone(i)) ++count;
    if (count > this.numbers.length) this.reserve(count);
    const place = this.mesh!.geometry.getAttribute("place").array as Float32Array, tint = this.mesh!.geometry.getAttribute("tint").array as Uint8Array;
    const number = this.mesh!.geometry.getAttribute("number").array as Float32Array;
    let n = 0;
    for (let i = drops; i < items; ++i) {
      if (!alone(i)) continue;
      this.numbers[n] = number[n] = i;
      for (let k = 0; k < 3; ++k) {
        place[n * 3 + k] = places[i * 3 + k];
        tint[n * 4 + k] = looks[i * 4 + k];
      }
      tint[n * 4 + 3] = looks[i * 4 + 3] > SHOWN.covered ? looks[i * 4 + 3] : 255;
      ++n;
    }
    this.mesh!.geometry.instanceCount = n;
    this.points!.geometry.setDrawRange(0, n);
    this.alone = n;
    this.drawn = n + this.placeDrops(drops, isDrawn);
    for (const geometry of [this.mesh!.geometry, this.points!.geometry])
      for (const name of ["place", "tint", "position", "number"]) if (geometry === this.points!.geometry ? name !== "number" : name !== "position") geometry.getAttribute(name).needsUpdate = true;
    this.stale = false;
  }

  // The first so many items are drops. They are listed behind the others.
  private placeDrops(drops: number, isDrawn: (i: number) => boolean) {
    if (!this.water) return 0;
    const { places, looks } = this, room = this.water.room(drops);
    let n = 0;
    for (let i = 0; i < drops; ++i) {
      if (!isDrawn(i)) continue;
      this.numbers[this.alone + n] = i;
      for (let k = 0; k < 3; ++k) {
        room.places[n * 3 + k] = places[i * 3 + k];
        room.tints[n * 4 + k] = looks[i * 4 + k];
      }
      ++n;
    }
    this.water.placed(n);
    return n;
  }

  // Before a picture: `pixels` high, seen from `eye`.
  prepare(camera: THREE.PerspectiveCamera, pixels: number) {
    if (!this.mesh || !this.points) return;
    if (this.stale) this.list();
    const near = this.bounds.isEmpty() ? 1 : Math.max(camera.near, this.bounds.distanceToPoint(camera.position));
    const size = (this.info!.size[0] * pixels) / (2 * near * Math.tan((camera.fov * Math.PI) / 360));
    this.points.visible = this.alone > 0 && size < FEW_PIXELS;
    this.mesh.visible = this.alone > 0 && !this.points.visible;
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
