// Water as a surface, in the space of the screen: the nearest front and the farthest back of drops, smoothed; then normals, refraction, absorption by how thick it
// is, the mirror of the sky and foam. The shaders are those of src/volvox/view/picture/water_shaders.h, which pictures are drawn with. Lengths in m.
import * as THREE from "three";

const NOTHING = 6e4;       // m; the largest that half floats have is 65504
const DROP_RADIUS = 0.7;   // of the size of a drop: neighbours overlap and leave no gaps
const MOST = 40;           // pixels to a side that are smoothed over
const PASSES = 6;

const dropVertex = `
precision highp float;
precision highp sampler2D;
uniform mat4 viewMatrix, projectionMatrix;
uniform float radius, base;
in vec3 position, place;
in vec4 tint;
out vec2 corner;
out float middle;
out vec3 hue;
void main() {
  corner = position.xy;
  vec4 seen = viewMatrix * vec4(place, 1.0);
  middle = -seen.z - base;  // from the depth of the middle of all: half floats have few digits
  hue = tint.rgb;
  seen.xy += corner * radius;
  gl_Position = projectionMatrix * seen;
}`;
// The nearest front, and minus the farthest back: both are minima.
const dropFragment = `
precision highp float;
precision highp sampler2D;
uniform float radius;
in vec2 corner;
in float middle;
out vec4 result;
void main() {
  float r2 = dot(corner, corner);
  if (r2 > 1.0) discard;
  float half_way = sqrt(1.0 - r2) * radius;
  result = vec4(middle - half_way, -(middle + half_way), 0.0, 0.0);
}`;
const hueFragment = `
precision highp float;
precision highp sampler2D;
uniform sampler2D near;
in vec2 corner;
in float middle;
in vec3 hue;
out vec4 result;
void main() {
  float r2 = dot(corner, corner);
  if (r2 > 1.0) discard;
  // Drops at the surface count most.
  float deep = max(middle - texelFetch(near, ivec2(gl_FragCoord.xy), 0).r, 0.0);
  float weight = (1.0 - r2) / (1.0 + 900.0 * deep * deep) + 1e-4;
  result = vec4(hue * weight, weight);
}`;
const screenVertex = `
precision highp float;
precision highp sampler2D;
in vec3 position;
void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }`;
// One direction of a mean over neighbours of about the same depth; those far behind or before belong to other parts.
const smoothFragment = `
precision highp float;
precision highp sampler2D;
uniform sampler2D near;
uniform ivec2 way;
uniform float drop, pixels, base;  // the size of a drop, m; pixels of 1 m, 1 m away
out vec4 result;
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(near, 0) - 1;
  vec2 own = texelFetch(near, here, 0).rg;
  result = vec4(own, 0.0, 0.0);
  if (own.r > ${NOTHING / 2}.0) return;
  float reach = 1.7 * drop * pixels / max(own.r + base, 0.01), close = 1.6 * drop;
  int side = clamp(int(reach), 1, ${MOST});
  float stretch = 2.2 / (float(side) * float(side));
  vec2 sum = own;
  float weights = 1.0;
  for (int k = 1; k <= side; ++k) {
    float weight = exp(-float(k * k) * stretch);
    vec2 a = texelFetch(near, clamp(here + way * k, ivec2(0), last), 0).rg;
    vec2 b = texelFetch(near, clamp(here - way * k, ivec2(0), last), 0).rg;
    // Both sides or none, so that edges do not shrink.
    if (abs(a.r - own.r) > close || abs(b.r - own.r) > close) continue;
    sum += weight * (a + b);
    weights += 2.0 * weight;
  }
  result = vec4(sum / weights, 0.0, 0.0);
}`;
// The whole picture: what is behind, and the water before it.
const finishFragment = `
precision highp float;
precision highp sampler2D;
uniform sampler2D near, hue, behind, depth;
uniform vec3 eye, forward, right, up, sun, color, horizon, zenith;  // right, up: from the axis to the picture's edge, 1 m ahead of the eye
uniform vec2 planes, full;  // near and far, m; pixels of the picture
uniform float drop, base, light;
out vec4 result;
vec2 size;
vec3 at(vec2 p, float far) {
  vec2 c = (p + 0.5) / size * 2.0 - 1.0;
  return eye + (forward + right * c.x + up * c.y) * far;
}
float scene(vec2 where) {
  float d = textureLod(depth, where, 0.0).r * 2.0 - 1.0;
  return 2.0 * planes.x * planes.y / (planes.y + planes.x - d * (planes.y - planes.x));
}
float front(ivec2 p) { return texelFetch(near, clamp(p, ivec2(0), ivec2(size) - 1), 0).r + base; }
// The side on which the surface goes on.
vec3 tangent(ivec2 p, ivec2 way, vec3 own, float far) {
  float a = front(p + way), b = front(p - way);
  return abs(a - far) < abs(b - far) ? at(vec2(p + way), a) - own : own - at(vec2(p - way), b);
}
vec3 sky(vec3 ray) {
  vec3 above = mix(horizon, zenith, smoothstep(0.0, 0.6, ray.z));
  return ray.z > 0.0 ? above : mix(above, vec3(0.35) * light, smoothstep(0.0, 0.3, -ray.z));
}
vec3 encoded(vec3 c) { return mix(c * 12.92, 1.055 * pow(max(c, 0.0), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)); }
void main() {
  vec2 where = gl_FragCoord.xy / full;
  vec3 plain = textureLod(behind, where, 0.0).rgb;
  result = vec4(encoded(plain), 1.0);
  gl_FragDepth = 0.0;  // what is drawn after this comes before water only
  size = vec2(textureSize(near, 0));
  ivec2 p = ivec2(where * size);
  vec2 own = texelFetch(near, p, 0).rg;
  if (own.r > ${NOTHING / 2}.0) return;
  float far = own.r + base, back = -own.g + base, wall = scene(where);
  if (far > wall || far < planes.x) return;
  vec3 here = at(vec2(p), far), to_eye = normalize(eye - here);
  vec3 n = normalize(cross(tangent(p, ivec2(1, 0), here, far), tangent(p, ivec2(0, 1), here, far)));
  if (dot(n, to_eye) < 0.0) n = -n;
  float thick = max(min(back, wall) - far, 0.2 * drop);
  // Light goes straight on through thin sheets and is bent by n = 1.33 in thick ones.
  vec2 side = vec2(dot(n, normalize(right)) / length(right), dot(n, normalize(up)) / length(up));
  vec2 bent = where - 0.5 * side * 0.25 * min(thick, 12.0 * drop) / far;
  if (scene(bent) < far) bent = where;
  thick = max(min(back, scene(bent)) - far, 0.2 * drop);
  vec3 seen = textureLod(behind, clamp(bent, 0.0, 1.0), 0.0).rgb, dye = pow(color, vec3(2.2));
  vec4 sum = texelFetch(hue, p, 0);
  vec3 tint = sum.a > 0.0 ? sum.rgb / sum.a : color;
  float foam = clamp(2.0 * length(tint - color), 0.0, 0.85);
  // What is one drop deep has a colour, too, or nobody would see a shallow pool.
  vec3 through = exp(-(1.02 - dye) * (thick / (11.0 * drop) + 0.4 * min(thick / drop, 1.0))) * (1.0 - foam);
  float lit = (0.42 + 0.40 * max(dot(n, sun), 0.0) + 0.12 * n.z) * light;
  vec3 inside = mix(dye * 0.9 + 0.03, pow(tint, vec3(2.2)), min(1.0, 1.5 * foam)) * (lit + 0.35 * foam * light);
  vec3 sight = seen * through + inside * (1.0 - through);
  float mirror = 0.02 + 0.98 * pow(1.0 - max(dot(n, to_eye), 0.0), 5.0);
  vec3 ray = reflect(-to_eye, n);
  sight = mix(sight, sky(ray), 0.85 * mirror * (1.0 - 0.7 * foam)) + vec3(1.0, 0.97, 0.9) * pow(max(dot(ray, sun), 0.0), 260.0) * 0.9 * light;

  result.rgb = encoded(clamp(sight, 0.0, 1.0));
  gl_FragDepth = 0.5 + 0.5 * (planes.y + planes.x - 2.0 * planes.x * planes.y / far) / (planes.y - planes.x);
}`;

export interface Surroundings { sun: THREE.Vector3; horizon: THREE.Color; zenith: THREE.Color; light: number }

export class Water {
  readonly possible: boolean;  // else drops are balls
  count = 0;                   // drops
  private readonly geometry = new THREE.InstancedBufferGeometry();
  private readonly screen = new THREE.BufferGeometry();
  private readonly uniforms: Record<string, THREE.IUniform> = {};
  private readonly passes: Record<"drops" | "hues" | "smooth" | "finish", THREE.Scene>;
  private readonly eyeless = new THREE.Camera();
  private near: THREE.WebGLRenderTarget[] = [];
  private hue: THREE.WebGLRenderTarget | null = null;
  private behind: THREE.WebGLRenderTarget | null = null;
  private first: THREE.WebGLRenderTarget | null = null;  // fronts and backs before they are smoothed
  private readonly blends: boolean;

  // `coarse`: a processor draws, and has to do with fewer pixels.
  constructor(private readonly renderer: THREE.WebGLRenderer, public coarse: boolean) {
    const gl = renderer.getContext();
    this.possible = gl.getExtension("EXT_color_buffer_float") !== null;
    this.blends = gl.getExtension("EXT_float_blend") !== null;
    this.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array([-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0]), 3));
    this.geometry.setIndex([0, 1, 2, 2, 1, 3]);
    this.geometry.instanceCount = 0;
    this.screen.setAttribute("position", new THREE.BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    for (const name of ["radius", "base", "drop", "pixels", "light"]) this.uniforms[name] = { value: 0 };
    for (const name of ["near", "hue", "behind", "depth"]) this.uniforms[name] = { value: null };
    for (const name of ["eye", "forward", "right", "up", "sun", "color", "horizon", "zenith"]) this.uniforms[name] = { value: new THREE.Vector3() };
    for (const name of ["planes", "full", "way"]) this.uniforms[name] = { value: new THREE.Vector2() };
    const pass = (vertexShader: string, fragmentShader: string, blending: Partial<THREE.ShaderMaterialParameters>) => {
      const material = new THREE.RawShaderMaterial({ glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms: this.uniforms, depthTest: false, depthWrite: false, ...blending });
      const mesh = new THREE.Mesh(vertexShader === dropVertex ? this.geometry : this.screen, material);
      mesh.frustumCulled = false;
      return new THREE.Scene().add(mesh);
    };
    const blend = (blendEquation: THREE.BlendingEquation) => ({ blending: THREE.CustomBlending, blendEquation, blendSrc: THREE.OneFactor, blendDst: THREE.OneFactor });
    this.passes = {
      drops: pass(dropVertex, dropFragment, blend(THREE.MinEquation)), hues: pass(dropVertex, hueFragment, blend(THREE.AddEquation)),
      smooth: pass(screenVertex, smoothFragment, { blending: THREE.NoBlending }), finish: pass(screenVertex, finishFragment, { blending: THREE.NoBlending, depthTest: true, depthWrite: true, depthFunc: THREE.AlwaysDepth }),
    };
  }

  // Where to put so many drops: the arrays are read when needsUpdate is set by `placed`.
  room(count: number) {
    const has = this.geometry.getAttribute("place") as THREE.InstancedBufferAttribute | undefined;
    if (!has || has.count < count) {
      this.geometry.dispose();
      const most = Math.ceil(1.2 * count) + 1;
      this.geometry.setAttribute("place", new THREE.InstancedBufferAttribute(new Float32Array(most * 3), 3));
      this.geometry.setAttribute("tint", new THREE.InstancedBufferAttribute(new Uint8Array(most * 4), 4, true));
    }
    const array = (name: string) => this.geometry.getAttribute(name).array;
    return { places: array("place") as Float32Array, tints: array("tint") as Uint8Array };
  }
  placed(count: number) {
    this.count = this.geometry.instanceCount = count;
    for (const name of ["place", "tint"]) if (count > 0) this.geometry.getAttribute(name).needsUpdate = true;
  }

  private makeTargets() {
    const size = this.renderer.getDrawingBufferSize(new THREE.Vector2()), part = this.coarse ? 0.5 : 1;
    if (this.behind?.width === size.x && this.behind.height === size.y && this.first!.width === Math.ceil(size.x * part)) return size;
    for (const old of [...this.near, this.hue, this.behind, this.first]) old?.dispose();
    const target = (scale: number, type: THREE.TextureDataType, format: THREE.PixelFormat) =>
      new THREE.WebGLRenderTarget(Math.ceil(size.x * scale), Math.ceil(size.y * scale), { type, format, depthBuffer: false, minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter });
    this.first = target(part, this.blends ? THREE.FloatType : THREE.HalfFloatType, THREE.RGFormat);
    this.near = [0, 1].map(() => target(part, THREE.FloatType, THREE.RGFormat));
    this.hue = target(part, THREE.HalfFloatType, THREE.RGBAFormat);
    this.behind = new THREE.WebGLRenderTarget(size.x, size.y, { type: THREE.HalfFloatType, samples: this.coarse ? 0 : 4 });
    this.behind.depthTexture = new THREE.DepthTexture(size.x, size.y, THREE.UnsignedIntType);
    return size;
  }

  private pass(name: keyof Water["passes"], target: THREE.WebGLRenderTarget | null, camera: THREE.Camera, empty?: number) {
    this.renderer.setRenderTarget(target);
    if (empty !== undefined) (this.renderer.getContext() as WebGL2RenderingContext).clearBufferfv(WebGL2RenderingContext.COLOR, 0, [empty, empty, empty, empty]);
    this.renderer.render(this.passes[name], camera);
  }

  private drawOnly(some: THREE.Object3D[], scene: THREE.Scene, camera: THREE.Camera) {
    const hidden: THREE.Object3D[] = [], kept = new Set<THREE.Object3D>(), background = scene.background;
    for (const object of some) for (let at: THREE.Object3D | null = object; at; at = at.parent) kept.add(at);
    scene.traverseVisible((object) => { if (!kept.has(object) && !(object as THREE.Light).isLight) hidden.push(object); });
    for (const object of hidden) object.visible = false;
    scene.background = null;  // a colour would clear the picture
    this.renderer.render(scene, camera);
    scene.background = background;
    for (const object of hidden) object.visible = true;
  }

  // The scene, and the water in it, whose drops have this size and colour (sRGB, 0 to 255). What one sees through (`clear`), such as the walls of a tank, is drawn
  // twice: as what is behind the water, and again where it is before it.
  draw(scene: THREE.Scene, camera: THREE.PerspectiveCamera, clear: THREE.Object3D[], bounds: THREE.Box3, drop: number, color: [number, number, number], around: Surroundings) {
    const { renderer, uniforms: u } = this, size = this.makeTargets();
    renderer.setRenderTarget(this.behind);
    renderer.render(scene, camera);
    
    const axis = (k: number) => new THREE.Vector3().setFromMatrixColumn(camera.matrixWorld, k);
    // What panels cover shifts the picture (setViewOffset), and so its middle.
    const [a, b] = [camera.projectionMatrix.elements[8], camera.projectionMatrix.elements[9]];
    const [w, h] = [1 / camera.projectionMatrix.elements[0], 1 / camera.projectionMatrix.elements[5]];
    u.eye.value.copy(camera.position);
    u.right.value.copy(axis(0)).multiplyScalar(w);
    u.up.value.copy(axis(1)).multiplyScalar(h);
    u.forward.value.copy(axis(2)).negate().addScaledVector(axis(0), a * w).addScaledVector(axis(1), b * h);
    u.base.value = bounds.getCenter(new THREE.Vector3()).sub(camera.position).dot(axis(2).negate());
    u.radius.value = DROP_RADIUS * drop;
    u.drop.value = drop;
    u.pixels.value = this.first!.height / (2 * h);
    u.sun.value.copy(around.sun).normalize();
    u.color.value.set(color[0] / 255, color[1] / 255, color[2] / 255);
    u.horizon.value.set(around.horizon.r, around.horizon.g, around.horizon.b);
    u.zenith.value.set(around.zenith.r, around.zenith.g, around.zenith.b);
    u.light.value = around.light;
    u.planes.value.set(camera.near, camera.far);
    u.full.value.copy(size);
    const clears = renderer.autoClear, shadows = renderer.shadowMap.autoUpdate;
    renderer.autoClear = renderer.shadowMap.autoUpdate = false;
    this.pass("drops", this.first, camera, NOTHING);
    u.near.value = this.first!.texture;
    this.pass("hues", this.hue, camera, 0);
    for (let k = 0; k < PASSES; ++k) {
      u.near.value = (k === 0 ? this.first! : this.near[k % 2]).texture;
      u.way.value.set(1 - (k % 2), k % 2);
      this.pass("smooth", this.near[1 - (k % 2)], this.eyeless);
    }
    u.near.value = this.near[PASSES % 2].texture;
    u.hue.value = this.hue!.texture;
    u.behind.value = this.behind!.texture;
    u.depth.value = this.behind!.depthTexture;
    this.pass("finish", null, this.eyeless);
    if (clear.length > 0) this.drawOnly(clear, scene, camera);
    [renderer.autoClear, renderer.shadowMap.autoUpdate] = [clears, shadows];
  }
}
