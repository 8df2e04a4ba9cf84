// The shaders of the engine `picture`. Colours come as sRGB, light is summed in linear space, and the
// result is sRGB again. All positions are in m, in world axes, relative to the camera's target, so that
// floats are exact enough in worlds of kilometres.
// Constant texts. Drivers compile them, so pixels differ a little between machines.
#pragma once

namespace volvox::view::picture {

// The attributes of the instances of a mesh: pose, scale and colours.
inline constexpr const char* instance = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 color;
layout(location = 3) in vec4 place;  // w: scale
layout(location = 4) in vec4 turn;   // quaternion, w last
layout(location = 5) in vec4 tint;   // a: its share in the colour
layout(location = 6) in float pale;  // 1: the colour of the background
uniform mat4 to_clip;
vec3 rotated(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
vec3 placed() { return place.xyz + rotated(turn, position * place.w); }
vec4 colored() { return vec4(pow(mix(color.rgb, tint.rgb, tint.a), vec3(2.2)), color.a); }
)";

inline constexpr const char* version = "#version 330 core\n";
// Soft shadows for pictures, hard ones for video.
inline constexpr const char* fine_version = "#version 330 core\n#define TAPS 7\n#define REACH 4.5\n";
inline constexpr const char* fast_version = "#version 330 core\n#define TAPS 2\n#define REACH 0.8\n";

inline constexpr const char* body_vertex = R"(
out vec3 at;
out vec3 facing;
out vec4 surface;
out float paleness;
void main() {
  at = placed();
  facing = rotated(turn, normal);
  surface = colored();
  paleness = pale;
  gl_Position = to_clip * vec4(at, 1.0);
}
)";

inline constexpr const char* shadow_vertex = R"(
void main() { gl_Position = to_clip * vec4(placed(), 1.0); }
)";

inline constexpr const char* shadow_fragment = R"(void main() {})";

// Shared by bodies and grounds: the sun with its shadow, the sky, and tone mapping. This text comes
// before the shaders that use it.
inline constexpr const char* light = R"(
uniform vec3 eye;
uniform vec3 sun;          // unit vector towards the sun
uniform mat4 to_shadow;    // to the shadow map, 0 to 1
uniform float texel;       // of the shadow map, in its coordinates
uniform float texel_size;  // in m
const int taps = TAPS;      // samples per side of the square that softens the edge of a shadow
const float reach = REACH;  // half that side, in texels
uniform sampler2DShadow shadow_map;
const vec3 sun_color = vec3(2.05, 1.98, 1.86);
const vec3 sky_color = vec3(0.66, 0.71, 0.80);
const vec3 bounce_color = vec3(0.44, 0.42, 0.40);

// The visible share of the sun: the mean over a square of the shadow map. A software renderer executes
// both sides of a branch, so only skipping the loop saves time.
float sunlit(vec3 p, vec3 n) {
  vec3 s = (to_shadow * vec4(p + n * texel_size * reach * 0.8, 1.0)).xyz;
  float r = reach * texel;
  float sum = texture(shadow_map, s + vec3(-r, -r, 0)) + texture(shadow_map, s + vec3(r, -r, 0)) +
              texture(shadow_map, s + vec3(-r, r, 0)) + texture(shadow_map, s + vec3(r, r, 0));
  if (taps == 2) return sum / 4.0;
  // A caster smaller than the square may lie between its corners, so sample inside as well.
  float within = sum + texture(shadow_map, s) + texture(shadow_map, s + vec3(-r, 0, 0) * 0.5) + texture(shadow_map, s + vec3(r, 0, 0) * 0.5) +
                 texture(shadow_map, s + vec3(0, -r, 0) * 0.5) + texture(shadow_map, s + vec3(0, r, 0) * 0.5);
  if (within == 0.0 || within == 9.0) return sum / 4.0;
  float step = 2.0 / float(taps - 1), lit = 0.0;
  for (int i = 0; i < taps; ++i)
    for (int j = 0; j < taps; ++j) lit += texture(shadow_map, s + vec3(float(i) * step - 1.0, float(j) * step - 1.0, 0.0) * r);
  return lit / float(taps * taps);
}

vec3 skylight(vec3 n) { return mix(bounce_color, sky_color, 0.5 + 0.5 * n.z); }

// Tone mapping with a soft shoulder, so that white plastic in the sun keeps its shading.
vec3 to_screen(vec3 light) {
  light *= 0.62;
  vec3 curved = light * (1.0 + light * 0.16) / (1.0 + light * 0.72);
  return pow(clamp(curved * 1.22, 0.0, 1.0), vec3(1.0 / 2.2));
}
)";

inline constexpr const char* body_fragment = R"(
uniform vec3 paper;
in vec3 at;
in vec3 facing;
in vec4 surface;
in float paleness;
out vec4 result;
void main() {
  vec3 n = normalize(facing);
  vec3 to_eye = normalize(eye - at);
  if (dot(n, to_eye) < 0.0 && !gl_FrontFacing) n = -n;
  float slant = dot(n, sun);
  float direct = slant > 0.0 ? slant * sunlit(at, n) : 0.0;
  float shine = direct > 0.0 ? pow(max(dot(n, normalize(sun + to_eye)), 0.0), 48.0) * 0.22 * direct : 0.0;
  float rim = pow(1.0 - max(dot(n, to_eye), 0.0), 4.0) * 0.10;
  vec3 light = surface.rgb * (sun_color * direct + skylight(n) * 0.62) + sun_color * shine + sky_color * rim;
  result = vec4(mix(to_screen(light), paper, paleness), surface.a);
}
)";

// What is only a few pixels large is lit at its vertices: on a processor, the shaders of pixels are
// what drawing costs.
inline constexpr const char* tiny_vertex = R"(
uniform vec3 paper;
out vec4 shade;
void main() {
  vec3 at = placed();
  vec3 n = rotated(turn, normal);
  vec4 surface = colored();
  vec3 s = (to_shadow * vec4(at + n * texel_size * 2.0, 1.0)).xyz;
  bool inside = s.z < 1.0 && all(lessThan(abs(s.xy - 0.5), vec2(0.5)));
  float direct = max(dot(n, sun), 0.0) * (inside ? textureLod(shadow_map, s, 0.0) : 1.0);
  shade = vec4(mix(to_screen(surface.rgb * (sun_color * direct + skylight(n) * 0.62)), paper, pale), surface.a);
  gl_Position = to_clip * vec4(at, 1.0);
}
)";

// Markers of engaged docks. They are unlit, because their colours have a meaning. Their depth is that of a point
// some dock widths nearer to the eye, so that the two joined modules do not hide them, but others do.
inline constexpr const char* mark_vertex = R"(
uniform vec3 eye;
out vec4 shade;
void main() {
  shade = vec4(mix(color.rgb, tint.rgb, tint.a), 1.0);
  vec3 at = placed();
  float nearer = min(2.5 * place.w, 0.5 * distance(eye, at));
  vec4 raised = to_clip * vec4(at + normalize(eye - at) * nearer, 1.0);
  gl_Position = to_clip * vec4(at, 1.0);
  gl_Position.z = raised.z / raised.w * gl_Position.w;
}
)";

// An infinite ground: a parallelogram that covers the view, or the shadows on it, with grid lines every 0.1, 1 and
// 10 m.
inline constexpr const char* ground_vertex = R"(#version 330 core
uniform mat4 to_clip;
uniform vec3 centre;
uniform vec3 along_x;  // half sides
uniform vec3 along_y;
uniform vec2 first;    // the centre in the frame of the ground, modulo 10 m
uniform vec2 to_x;     // the two half sides in the frame of the ground
uniform vec2 to_y;
out vec3 at;
out vec2 where;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID >> 1) * 2 - 1);
  at = centre + along_x * corner.x + along_y * corner.y;
  where = first + to_x * corner.x + to_y * corner.y;
  gl_Position = to_clip * vec4(at, 1.0);
}
)";

// The colours of the ground in the sun and in shadow are the same everywhere, so they are uniforms. The shadow map
// is sampled only on the patch that can have shadows.
inline constexpr const char* open_ground = R"(
uniform vec3 eye;
uniform vec3 sunny;    // sRGB
in vec3 at;
vec3 ground_color() { return sunny; }
)";
inline constexpr const char* shadowed_ground = R"(
uniform vec3 normal;
uniform vec3 sunny;    // both sRGB
uniform vec3 shady;
in vec3 at;
vec3 ground_color() { return mix(shady, sunny, sunlit(at, normal)); }
)";
inline constexpr const char* ground_fragment = R"(
uniform vec3 horizon;  // sRGB
uniform float fade;    // m from the eye: here the ground begins to fade into the horizon
uniform bool grid;
in vec2 where;
out vec4 result;
vec2 width;  // m, of a pixel
float lines(float spacing, float pixels) {
  vec2 w = width / spacing;
  vec2 d = abs(fract(where / spacing - 0.5) - 0.5) / w;
  vec2 l = clamp(pixels * 0.5 + 0.5 - d, 0.0, 1.0) * clamp(1.375 - 6.25 * w, 0.0, 1.0);  // lines only a few pixels apart fade out
  return max(l.x, l.y);
}
void main() {
  float far = length(at - eye);
  if (far > 4.0 * fade) {
    result = vec4(horizon, 1.0);
    return;
  }
  vec3 screen = ground_color();
  if (grid) {
    width = max(fwidth(where), vec2(1e-6));
    screen *= 1.0 - max(max(0.075 * lines(0.1, 1.0), 0.20 * lines(1.0, 1.3)), 0.30 * lines(10.0, 1.6));
  }
  result = vec4(mix(screen, horizon, smoothstep(fade, 4.0 * fade, far)), 1.0);
}
)";

// Lines of range sensors.
inline constexpr const char* line_vertex = R"(#version 330 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
uniform mat4 to_clip;
out vec4 shade;
void main() {
  shade = color;
  gl_Position = to_clip * vec4(position, 1.0);
}
)";
inline constexpr const char* line_fragment = R"(#version 330 core
in vec4 shade;
out vec4 result;
void main() { result = shade; }
)";

// The sky, from the horizon upwards, behind everything else.
inline constexpr const char* sky_vertex = R"(#version 330 core
uniform vec3 forward;
uniform vec3 right;  // from the axis to the picture's edge, 1 m ahead of the eye
uniform vec3 up;
out vec3 ray;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) * 4 - 1, (gl_VertexID >> 1) * 4 - 1);
  ray = forward + right * corner.x + up * corner.y;
  gl_Position = vec4(corner, 1.0, 1.0);
}
)";
inline constexpr const char* sky_fragment = R"(#version 330 core
uniform vec3 horizon;
uniform vec3 zenith;
in vec3 ray;
out vec4 result;
void main() { result = vec4(mix(horizon, zenith, smoothstep(0.0, 0.6, normalize(ray).z)), 1.0); }
)";

}  // namespace volvox::view::picture
