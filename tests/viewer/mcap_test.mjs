// An independent reader, @mcap/core, reads a recording: its index, a seek in time, and Foxglove's schema of transforms
// decoded from the file itself.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const require = createRequire(join(process.env.VOLVOX_ROOT, "web", "package.json"));
const { McapIndexedReader, McapStreamReader } = require("@mcap/core");
const { decompress } = require("fzstd");

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "volvox-mcap-"));
  execFileSync(process.env.VOLVOX, ["run", "remod3d/snake", "--set", "modules=4", "--duration", "2", "--record", "--quiet", "--out", folder]);
});
after(() => rmSync(folder, { recursive: true }));

class Bytes {
  constructor(file) { this.bytes = readFileSync(file); }
  async size() { return BigInt(this.bytes.length); }
  async read(offset, size) { return new Uint8Array(this.bytes.subarray(Number(offset), Number(offset + size))); }
}
const decompressHandlers = { zstd: (bytes, size) => decompress(bytes, new Uint8Array(Number(size))) };

// The fields of a protobuf message in wire format: [number, value].
function* fields(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = () => { let value = 0n, shift = 0n; for (;;) { const byte = bytes[at++]; value |= BigInt(byte & 127) << shift; if (byte < 128) return Number(value); shift += 7n; } };
  while (at < bytes.length) {
    const tag = varint();
    if ((tag & 7) === 0) yield [tag >> 3, varint()];
    else if ((tag & 7) === 1) { yield [tag >> 3, view.getFloat64(at, true)]; at += 8; }
    else if ((tag & 7) === 5) { yield [tag >> 3, view.getUint32(at, true)]; at += 4; }
    else { assert.equal(tag & 7, 2); const size = varint(); yield [tag >> 3, bytes.subarray(at, at + size)]; at += size; }
  }
}

test("@mcap/core reads the index and the messages", async () => {
  const reader = await McapIndexedReader.Initialize({ readable: new Bytes(join(folder, "recording.mcap")), decompressHandlers });
  const topics = new Map([...reader.channelsById.values()].map((c) => [c.topic, reader.schemasById.get(c.schemaId)]));
  assert.equal(topics.get("/tf").name, "foxglove.FrameTransforms");
  assert.equal(topics.get("/log").name, "foxglove.Log");
  assert.equal(topics.get("/tf").encoding, "protobuf");
  // The schema is a FileDescriptorSet that contains FrameTransform.
  const text = new TextDecoder("latin1").decode(topics.get("/tf").data);
  for (const word of ["child_frame_id", "google.protobuf", "foxglove/FrameTransforms.proto", "proto3"]) assert.ok(text.includes(word), word);
  assert.ok(reader.chunkIndexes.length >= 1);
  assert.equal(Number(reader.statistics.chunkCount), reader.chunkIndexes.length);

  let states = 0;
  for await (const message of reader.readMessages({ topics: ["/state"] })) { assert.equal(message.sequence, states); ++states; }
  assert.equal(states, 121);  // 2 s at 60 Hz, and the start

  // A seek: only messages between 1.0 and 1.1 s.
  const frames = new Set();
  let seconds = 0;
  for await (const message of reader.readMessages({ topics: ["/tf"], startTime: 1_000_000_000n, endTime: 1_100_000_000n })) {
    for (const [number, transform] of fields(message.data)) {
      assert.equal(number, 1);
      const values = new Map(fields(transform));
      frames.add(new TextDecoder().decode(values.get(3)));
      seconds = new Map(fields(values.get(1))).get(1);
      const rotation = [...fields(values.get(5))].map(([, v]) => v);
      assert.ok(Math.abs(Math.hypot(...rotation) - 1) < 1e-5);
    }
  }
  assert.equal(seconds, 1);
  assert.ok(frames.has("s0.head") || [...frames].some((f) => f.endsWith(".head")), [...frames].join());
});

test("@mcap/core reads it as a stream, metadata and all", () => {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  reader.append(readFileSync(join(folder, "recording.mcap")));
  const kinds = new Map();
  let description;
  for (let record; (record = reader.nextRecord()); ) {
    kinds.set(record.type, (kinds.get(record.type) ?? 0) + 1);
    if (record.type === "Metadata" && record.name === "volvox") description = record.metadata;
  }
  assert.ok(reader.done());
  assert.equal(description.get("name"), "remod3d/snake");
  assert.ok(kinds.get("Attachment") >= 2);
  assert.equal(kinds.get("Footer"), 1);
});

// As Foxglove's 3D panel reads them: where the fields lie is in the message.
test("particles are points of Foxglove's schema", async () => {
  const cloth = mkdtempSync(join(tmpdir(), "volvox-points-"));
  try {
    execFileSync(process.env.VOLVOX, ["run", "remod3d/cloth", "--duration", "0.2", "--record", "--quiet", "--out", cloth]);
    const reader = await McapIndexedReader.Initialize({ readable: new Bytes(join(cloth, "recording.mcap")), decompressHandlers });
    const channel = [...reader.channelsById.values()].find((c) => c.topic === "/points");
    assert.equal(reader.schemasById.get(channel.schemaId).name, "foxglove.PointCloud");
    let clouds = 0;
    for await (const message of reader.readMessages({ topics: ["/points"] })) {
      const values = new Map(fields(message.data)), text = (bytes) => new TextDecoder().decode(bytes);
      const stride = values.get(4), data = values.get(6);
      const described = [...fields(message.data)].filter(([number]) => number === 5).map(([, field]) => new Map(fields(field)));
      assert.deepEqual(described.map((f) => text(f.get(1))), ["x", "y", "z", "red", "green", "blue", "alpha"]);
      assert.deepEqual(described.map((f) => f.get(3)), [7, 7, 7, 1, 1, 1, 1]);
      assert.equal(text(values.get(2)), "world");
      assert.ok(data.length > 1000 * stride && data.length % stride === 0);
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength), z = described[2].get(2);
      for (let at = 0; at < data.length; at += stride) assert.ok(Math.abs(view.getFloat32(at + z, true)) < 10);
      ++clouds;
    }
    assert.ok(clouds >= 6 && clouds <= 7, `${clouds} messages in 0.2 s`);  // 30 a second
  } finally {
    rmSync(cloth, { recursive: true });
  }
});
