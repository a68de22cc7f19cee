// Recordings as the server tells of them: packets, frames kept for a while, news and commands.

const MOST_BYTES = 256e6; // of frames kept per recording
const RETRY = 5000; // ms after which a frame that could not be had is asked for again

/** The plain values and arrays of a packet; see packets.py. Arrays are views into `buffer`. */
export function decodePacket(buffer) {
  const bytes = new DataView(buffer);
  if (bytes.byteLength < 8 || bytes.getUint32(0, false) !== 0x4352504c) throw new Error("the answer is no packet of the studio");
  const length = bytes.getUint32(4, true);
  const values = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const arrays = {};
  let place = 8 + length;
  for (const [name, kind, shape] of values.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = kind === "f4" ? new Float32Array(buffer, place, count) : new Uint32Array(buffer, place, count);
    place += 4 * count;
  }
  return { values, arrays };
}

/** The answer to a GET request; an Error with the server's one line when it refuses. */
async function get(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error((await answer.text()) || `${address}: ${answer.status}`);
  return answer;
}

/** One recording: its frames and times, and the frames that were fetched lately. */
export class Run {
  constructor(id) {
    this.id = id;
    this.name = "";
    this.count = 0;
    this.simulation = null;
    this.forget(-1);
  }

  /** Drop everything known: the frames were replaced. */
  forget(generation) {
    this.generation = generation;
    this.asked = -1; // frames that there were when it was last asked for them
    this.frames = [];
    this.times = [];
    this.fields = [];
    this.kept = new Map();
    this.coming = new Map(); // frames on their way
    this.bad = new Map(); // frames that could not be had, and until when that is believed
    this.bytes = 0;
    this.topologies = new Map();
    this.poses = new Map();
  }

  /** Learn of frames that came since. */
  async update() {
    const after = this.frames.length ? this.frames.at(-1) : -1;
    const news = await (await get(`api/runs/${this.id}?after=${after}`)).json();
    if (news.generation !== this.generation && this.frames.length) {
      this.forget(news.generation);
      return this.update();
    }
    this.generation = news.generation;
    const last = this.frames.length ? this.frames.at(-1) : -1; // another update may have been quicker
    news.frames.forEach((frame, k) => {
      if (frame > last) {
        this.frames.push(frame);
        this.times.push(news.times[k]);
      }
    });
    if (news.fields.length) this.fields = news.fields;
  }

  /** The place in `frames` of the last one not after `time` [s]. */
  placeAt(time) {
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** A frame that was fetched with this field before, or undefined. */
  recall(place, field) {
    const key = `${this.frames[place]} ${field}`;
    const frame = this.kept.get(key);
    if (frame) {
      this.kept.delete(key); // to the end: it was used last
      this.kept.set(key, frame);
    }
    return frame;
  }

  /** A frame with the values of `field` ("" for none), fetched unless it is known. */
  async load(place, field) {
    const known = this.recall(place, field), key = `${this.generation} ${this.frames[place]} ${field}`;
    if (known) return known;
    const bad = this.bad.get(key);
    if (bad && performance.now() < bad.until) throw bad.error;
    if (!this.coming.has(key)) {
      const failed = (error) => {
        remember(this.bad, key, { error, until: performance.now() + RETRY });
        throw error;
      };
      this.coming.set(key, this.fetch(place, field).catch(failed).finally(() => this.coming.delete(key)));
    }
    return this.coming.get(key);
  }

  async fetch(place, field) {
    const number = this.frames[place], generation = this.generation;
    const keys = [...[...this.topologies.keys()].slice(-8), ...[...this.poses.keys()].slice(-8)];
    const query = new URLSearchParams({ known: keys.join(",") });
    if (field) query.set("field", field);
    const buffer = await (await get(`api/runs/${this.id}/frames/${number}?${query}`)).arrayBuffer();
    const { values, arrays } = decodePacket(buffer);
    if (arrays.faces) remember(this.topologies, values.topology, makeTopology(arrays));
    if (arrays.obstacle_x) remember(this.poses, values.obstacles, { x: arrays.obstacle_x, faces: arrays.obstacle_faces });
    const frame = {
      ...values,
      x: arrays.x,
      values: arrays.field ?? null,
      mesh: this.topologies.get(values.topology),
      pose: this.poses.get(values.obstacles),
      bytes: buffer.byteLength,
    };
    if (generation === this.generation) this.keep(`${number} ${field}`, frame);
    return frame;
  }

  keep(key, frame) {
    this.kept.set(key, frame);
    this.bytes += frame.bytes;
    for (const [old, one] of this.kept) {
      if (this.bytes <= MOST_BYTES || old === key) break;
      this.kept.delete(old);
      this.bytes -= one.bytes;
    }
  }

  async series() {
    return (await get(`api/runs/${this.id}/series`)).json();
  }

  async face(place, face) {
    return (await get(`api/runs/${this.id}/frames/${this.frames[place]}/faces/${face}`)).json();
  }
}

/** Keep the newest entries of a map, so that the server and the page agree on what is known. */
function remember(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > 64) map.delete(map.keys().next().value);
}

/** What is derived once per topology: nodes of faces, and for each node the corners that meet there. */
function makeTopology({ faces, vertex_node: vertexNode, pattern }) {
  const corners = new Uint32Array(faces.length);
  for (let c = 0; c < faces.length; c++) corners[c] = vertexNode[faces[c]];
  const nodes = corners.reduce((most, node) => Math.max(most, node + 1), 0);
  const begin = new Uint32Array(nodes + 1);
  for (const node of corners) begin[node + 1]++;
  for (let n = 0; n < nodes; n++) begin[n + 1] += begin[n];
  const next = begin.slice(), around = new Uint32Array(corners.length);
  corners.forEach((node, c) => { around[next[node]++] = c; });
  return { faces, corners, pattern, begin, around, count: faces.length / 3 };
}

/** The socket: `onNews` gets the status of all runs, `onError` a line, `onState` whether it is connected. */
export class Channel {
  constructor({ onNews, onError, onState }) {
    Object.assign(this, { onNews, onError, onState });
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`);
    this.socket.onopen = () => this.onState(true);
    this.socket.onmessage = (event) => {
      const news = JSON.parse(event.data);
      if (news.error) this.onError(news.error);
      else if ((this.session ??= news.session) !== news.session) location.reload(); // another studio is here now
      else this.onNews(news.runs);
    };
    this.socket.onclose = () => {
      this.onState(false);
      setTimeout(() => this.connect(), 1500);
    };
  }

  /** Ask for something, such as `{do: "pause", run: 0}`. */
  send(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}
