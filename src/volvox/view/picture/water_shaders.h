// The shaders of a fluid's surface. Depths are along the camera's axis, in m; far: nothing is there.
// Constants.
#pragma once

namespace volvox::view::picture {

inline constexpr const char* drop_vertex = R"(#version 330 core
layout(location = 0) in vec4 drop;  // w: radius
layout(location = 1) in vec4 color;
uniform mat4 to_clip;
uniform vec3 eye;
uniform vec3 forward;
uniform vec3 right;
uniform vec3 up;
out vec2 corner;
out float middle;
out float radius;
out vec3 tint;
void main() {
  corner = vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID >> 1) * 2 - 1);
  middle = dot(drop.xyz - eye, forward);
  radius = drop.w;
  tint = color.rgb;
  gl_Position = to_clip * vec4(drop.xyz + (right * corner.x + up * corner.y) * drop.w, 1.0);
}
)";
// The nearest front, and minus the farthest back: both are minima.
inline constexpr const char* drop_fragment = R"(#version 330 core
in vec2 corner;
in float middle;
in float radius;
out vec2 result;
void main() {
  float r2 = dot(corner, corner);
  if (r2 > 1.0) discard;
  float half_way = sqrt(1.0 - r2) * radius;
  result = vec2(middle - half_way, -(middle + half_way));
}
)";
inline constexpr const char* hue_fragment = R"(#version 330 core
in vec2 corner;
in float middle;
in vec3 tint;
uniform sampler2D near;
out vec4 result;
void main() {
  float r2 = dot(corner, corner);
  if (r2 > 1.0) discard;
  // Drops at the surface count most.
  float deep = max(middle - texelFetch(near, ivec2(gl_FragCoord.xy), 0).r, 0.0);
  float weight = (1.0 - r2) / (1.0 + 900.0 * deep * deep) + 1e-4;
  result = vec4(tint * weight, weight);
}
)";

inline constexpr const char* screen_vertex = R"(#version 330 core
void main() { gl_Position = vec4((gl_VertexID & 1) * 4 - 1, (gl_VertexID >> 1) * 4 - 1, 0.0, 1.0); }
)";

// One direction of a mean over neighbours of about the same depth; those far behind or before belong to other parts.
inline constexpr const char* smooth_fragment = R"(#version 330 core
uniform sampler2D near;
uniform ivec2 way;
uniform float drop;     // its size, m
uniform float pixels;   // of 1 m, 1 m away
uniform int most;       // pixels to a side
out vec2 result;
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(near, 0) - 1;
  vec2 own = texelFetch(near, here, 0).rg;
  result = own;
  if (own.r > 1e8) return;
  float reach = 1.7 * drop * pixels / own.r, close = 1.6 * drop;
  int side = clamp(int(reach), 1, most);
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
  result = sum / weights;
}
)";

inline constexpr const char* water_fragment = R"(#version 330 core
uniform sampler2D near;
uniform sampler2D hue;
uniform sampler2D behind;
uniform sampler2D depth;
uniform vec3 eye;
uniform vec3 forward;
uniform vec3 right;   // from the axis to the picture's edge, 1 m ahead of the eye
uniform vec3 up;
uniform vec3 sun;
uniform vec2 planes;  // near and far, m
uniform float drop;   // m
uniform vec3 color;   // sRGB
uniform vec3 horizon;
uniform vec3 zenith;
out vec4 result;
vec2 size;
vec3 at(ivec2 p, float far) {
  vec2 c = (vec2(p) + 0.5) / size * 2.0 - 1.0;
  return eye + (forward + right * c.x + up * c.y) * far;
}
float scene(vec2 where) {
  float d = textureLod(depth, where, 0.0).r * 2.0 - 1.0;
  return 2.0 * planes.x * planes.y / (planes.y + planes.x - d * (planes.y - planes.x));
}
float front(ivec2 p) { return texelFetch(near, clamp(p, ivec2(0), ivec2(size) - 1), 0).r; }
// The side on which the surface goes on.
vec3 tangent(ivec2 p, ivec2 way, vec3 own, float far) {
  float a = front(p + way), b = front(p - way);
  return abs(a - far) < abs(b - far) ? at(p + way, a) - own : own - at(p - way, b);
}
vec3 sky(vec3 ray) {
  vec3 above = pow(mix(horizon, zenith, smoothstep(0.0, 0.6, ray.z)), vec3(2.2));
  return ray.z > 0.0 ? above : mix(above, vec3(0.35), smoothstep(0.0, 0.3, -ray.z));
}
void main() {
  size = vec2(textureSize(near, 0));
  ivec2 p = ivec2(gl_FragCoord.xy);
  vec2 where = (vec2(p) + 0.5) / size, own = texelFetch(near, p, 0).rg;
  float far = own.r, wall = scene(where);
  if (far > 1e8 || far > wall) discard;
  vec3 here = at(p, far), to_eye = normalize(eye - here);
  vec3 n = normalize(cross(tangent(p, ivec2(1, 0), here, far), tangent(p, ivec2(0, 1), here, far)));
  if (dot(n, to_eye) < 0.0) n = -n;
  float thick = max(min(-own.g, wall) - far, 0.2 * drop);
  // Light goes straight on through thin sheets and is bent by n = 1.33 in thick ones.
  vec2 side = vec2(dot(n, normalize(right)) / length(right), dot(n, normalize(up)) / length(up));
  vec2 bent = where - 0.5 * side * 0.25 * min(thick, 12.0 * drop) / far;
  if (scene(bent) < far) bent = where;
  thick = max(min(-own.g, scene(bent)) - far, 0.2 * drop);
  vec3 seen = pow(textureLod(behind, clamp(bent, 0.0, 1.0), 0.0).rgb, vec3(2.2));
  vec3 dye = pow(color, vec3(2.2));
  vec4 sum = texelFetch(hue, p, 0);
  vec3 tint = sum.a > 0.0 ? sum.rgb / sum.a : color;
  float foam = clamp(2.0 * length(tint - color), 0.0, 0.85);
  // What is one drop deep has a colour, too, or nobody would see a shallow pool.
  vec3 through = exp(-(1.02 - dye) * (thick / (11.0 * drop) + 0.4 * min(thick / drop, 1.0))) * (1.0 - foam);
  float lit = 0.42 + 0.40 * max(dot(n, sun), 0.0) + 0.12 * n.z;
  vec3 inside = mix(dye * 0.9 + 0.03, pow(tint, vec3(2.2)), min(1.0, 1.5 * foam)) * (lit + 0.35 * foam);
  vec3 light = seen * through + inside * (1.0 - through);
  float mirror = 0.02 + 0.98 * pow(1.0 - max(dot(n, to_eye), 0.0), 5.0);
  vec3 ray = reflect(-to_eye, n);
  light = mix(light, sky(ray), 0.85 * mirror * (1.0 - 0.7 * foam)) + vec3(1.0, 0.97, 0.9) * pow(max(dot(ray, sun), 0.0), 260.0) * 0.9;
  result = vec4(pow(clamp(light, 0.0, 1.0), vec3(1.0 / 2.2)), 1.0);
  float z = (planes.y + planes.x - 2.0 * planes.x * planes.y / far) / (planes.y - planes.x);
  gl_FragDepth = z * 0.5 + 0.5;
}
)";

}  // namespace volvox::view::picture
