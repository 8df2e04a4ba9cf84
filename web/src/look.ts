// What things look like: colours by day and by night, docks and loads by colour, and lines on the ground.
import * as THREE from "three";
import { DOCK } from "./protocol";

export interface Theme { sky: THREE.Color; zenith: THREE.Color; ground: THREE.Color; own: number; lines: [number, number, number]; light: number; shade: number }
// own: how much of its own colour the ground keeps; zenith: what water mirrors from above; lines: every 10, 1 and 0.1 m; shade: light from below.
export const THEMES: Record<"light" | "dark", Theme> = {
  light: { sky: new THREE.Color(0xe9edf2), zenith: new THREE.Color(0x9dbbe0), ground: new THREE.Color(0xf4f6f8), own: 0.2, lines: [0x8793a3, 0x9aa5b4, 0xccd3dc], light: 1, shade: 0xb8c0cc },
  dark: { sky: new THREE.Color(0x12161b), zenith: new THREE.Color(0x26364a), ground: new THREE.Color(0x101419), own: 0.008, lines: [0x7d8998, 0x5a6675, 0x333c47], light: 0.9, shade: 0x6b7480 },
};

// Lines every `step` over a square of this size, without every tenth where a coarser grid has it, cut into pieces: a
// renderer on the processor (SwiftShader) drops a line that reaches behind the eye. Near the middle, where the eye mostly
// is, they are the shortest.
const PIECES = 60;
export function gridLines(size: number, step: number, color: number, withTenth: boolean) {
  const half = size / 2, lines = Math.round(size / step), cuts = Array.from({ length: PIECES + 1 }, (_, i) => half * (2 * i / PIECES - 1) ** 3);
  const points = new Float32Array((lines + 1) * PIECES * 12);
  let at = 0;
  for (let i = 0; i <= lines; ++i)
    for (let piece = 0; piece < PIECES && (withTenth || i % 10 !== 0); ++piece) {
      const across = i * step - half, from = cuts[piece], to = cuts[piece + 1];
      for (const value of [across, from, 0, across, to, 0, from, across, 0, to, across, 0]) points[at++] = value;
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(points.subarray(0, at), 3));
  geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), size);
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color, transparent: true }));
}

// From no load to breaking: the colours of view/render_tree.cpp, which pictures have, too.
const LOADS = [[49, 83, 160], [52, 152, 176], [96, 178, 92], [240, 190, 60], [205, 45, 40]]
  .map(([r, g, b]) => new THREE.Color().setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace));
export function loadColor(load: number, out: THREE.Color) {
  const x = Math.min(4, Math.max(0, load * 4)), i = Math.min(3, Math.floor(x));
  return out.lerpColors(LOADS[i], LOADS[i + 1], x - i);
}
export const UNLOADED = new THREE.Color().setRGB(205 / 255, 208 / 255, 212 / 255, THREE.SRGBColorSpace);  // nothing docked
export const loadGradient = () => `linear-gradient(to right, ${LOADS.map((color) => "#" + color.getHexString()).join(", ")})`;

// The colours of sim/cloud.cpp.
export const rampGradient = () => "linear-gradient(to right, rgb(68,1,84), rgb(59,82,139), rgb(33,145,140), rgb(94,201,98), rgb(253,231,37))";

export function dockColor(gender: number, flags: number, out: THREE.Color) {
  if (flags & DOCK.broken) return out.set(0xd42a20);
  if (flags & DOCK.engaged) return out.set(0x2f9e44);
  if (flags & DOCK.latching) return out.set(0xf08c00);
  if (!(flags & DOCK.enabled)) return out.set(0x40464e);
  return out.set(gender === 0 ? 0x1864d6 : gender === 1 ? 0xffffff : 0xc9ced6);
}

// Horizontal circles as line segments: the range of each antenna (four numbers per ring) and, because the
// range mostly exceeds the view, small circles around the sender.
const WAVES = [0.012, 0.022, 0.032];  // radii of the small circles, times the distance of the eye
export function circles(rings: Float32Array, distance: number, sides = 64) {
  const points = new Float32Array((rings.length / 4) * (1 + WAVES.length) * sides * 6);
  let at = 0;
  for (let ring = 0; ring < rings.length; ring += 4)
    for (const radius of [rings[ring + 3], ...WAVES.map((wave) => Math.min(wave * distance, rings[ring + 3]))])
      for (let side = 0; side < sides; ++side)
        for (const corner of [side, side + 1]) {
          const angle = (2 * Math.PI * corner) / sides;
          points[at++] = rings[ring] + radius * Math.cos(angle);
          points[at++] = rings[ring + 1] + radius * Math.sin(angle);
          points[at++] = rings[ring + 2];
        }
  return points;
}
