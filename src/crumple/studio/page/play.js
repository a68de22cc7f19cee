// Paper in your hands: takes frames from the server, moves hands with pointers, draws smoothly in between.

import { Vector3 } from "./vendor/three.min.js";
import { decodePacket } from "./data.js";
import { Sound } from "./sound.js";
import { Table } from "./table.js";

const $ = (id) => document.getElementById(id);
const DEPTH = 0.001; // m that the sheet comes closer per pixel, with shift

const table = new Table($("canvas")), sound = new Sound();
const grips = new Map(); // by pointer: the point that is held, and where the pointer was last
let socket = null, mesh = null, topology = 0, older = null, newer = null, span = 16, arrived = 0, frames = 0, shownFrames = 0;

function send(command) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(command));
}

function tell(text) {
  $("notice").hidden = !text;
  $("notice").textContent = text;
}

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    topology = 0;
    send({ do: "show", known: 0 });
  };
  socket.onmessage = ({ data }) => (typeof data === "string" ? hear(JSON.parse(data)) : receive(data));
  socket.onclose = () => {
    tell("The connection is lost. It is tried again…");
    setTimeout(connect, 1000);
  };
}

function hear(news) {
  if (news.error) flash(news.error);
  if (news.waiting) {
    tell(`One moment: ${news.waiting}.`);
    send({ do: "show", known: topology });
  }
  if (news.failed) tell(news.failed);
}

function receive(buffer) {
  const { values, arrays } = decodePacket(buffer);
  tell("");
  if (arrays.faces) {
    mesh = { faces: arrays.faces.slice(), u: arrays.u.slice(), node: arrays.node.slice(), obstacle_x: arrays.obstacle_x, obstacle_faces: arrays.obstacle_faces };
    table.setMesh(mesh);
    older = newer = null;
  }
  topology = values.topology;
  const now = performance.now();
  if (values.frame !== frames || !newer) {
    span = newer ? Math.min(Math.max(now - arrived, 8), 100) : 16;
    older = newer || arrays.x.slice();
    newer = arrays.x.slice();
    arrived = now;
    frames = values.frame;
  }
  table.placeHands(values.hands);
  values.events.forEach((event) => {
    if (event.kind === "trouble") flash("That was too much: the sheet has come to rest.");
    else if (event.kind === "saved") flash(`saved in ${event.message}`);
    else sound.play(event);
  });
  show(values);
  document.body.dataset.frame = values.frame;
  setTimeout(() => send({ do: "show", known: topology }), 4);
}

function show(values) {
  $("undo").disabled = !values.undo;
  $("redo").disabled = !values.redo;
  $("pause").setAttribute("aria-pressed", values.paused);
  $("slow").setAttribute("aria-pressed", values.pace < 1);
  $("gravity").setAttribute("aria-pressed", values.gravity);
  shownFrames++;
  $("status").textContent = `${values.faces} faces  ${values.time.toFixed(2)} s`;
}

let flashing = 0;
function flash(text) {
  const help = $("help");
  if (!help.dataset.text) help.dataset.text = help.textContent;
  help.textContent = text;
  clearTimeout(flashing);
  flashing = setTimeout(() => (help.textContent = help.dataset.text), 4000);
}

/** The sheet between the last two frames: it is drawn one frame late, and never jumps. */
function between(now) {
  const t = Math.min((now - arrived) / span, 1);
  if (t >= 1 || older.length !== newer.length) return newer;
  const x = new Float32Array(newer.length);
  for (let k = 0; k < x.length; k++) x[k] = older[k] + t * (newer[k] - older[k]);
  return x;
}

function loop(now) {
  if (newer && mesh) table.place(between(now));
  table.draw();
  requestAnimationFrame(loop);
}

const canvas = $("canvas");
canvas.addEventListener("pointerdown", (event) => {
  sound.wake();
  if (event.button !== 0) return;
  const ray = table.ray(event), point = table.hit(ray);
  if (!point) return;
  event.stopImmediatePropagation();
  canvas.setPointerCapture(event.pointerId);
  canvas.classList.add("holds");
  grips.set(event.pointerId, { point, x: event.clientX, y: event.clientY, pinned: $("pin").getAttribute("aria-pressed") === "true" });
  send({ do: "grab", hand: event.pointerId, origin: ray.origin.toArray(), direction: ray.direction.toArray() });
}, { capture: true });

canvas.addEventListener("pointermove", (event) => {
  const grip = grips.get(event.pointerId);
  if (!grip) return;
  event.stopImmediatePropagation();
  const facing = table.camera.getWorldDirection(new Vector3());
  if (event.shiftKey) {
    grip.point.addScaledVector(facing, -DEPTH * (event.clientY - grip.y) * -1);
  } else {
    const ray = table.ray(event), depth = facing.dot(grip.point.clone().sub(ray.origin)) / facing.dot(ray.direction);
    grip.point.copy(ray.origin).addScaledVector(ray.direction, depth);
  }
  grip.x = event.clientX;
  grip.y = event.clientY;
  send({ do: "move", hand: event.pointerId, position: grip.point.toArray() });
}, { capture: true });

function letGo(event) {
  const grip = grips.get(event.pointerId);
  if (!grip) return;
  grips.delete(event.pointerId);
  if (!grips.size) canvas.classList.remove("holds");
  send({ do: grip.pinned ? "pin" : "release", hand: event.pointerId });
}
canvas.addEventListener("pointerup", letGo, { capture: true });
canvas.addEventListener("pointercancel", letGo, { capture: true });
canvas.addEventListener("contextmenu", (event) => event.preventDefault());

function toggle(button) {
  const pressed = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", pressed);
  return pressed;
}

const tools = {
  undo: () => send({ do: "undo" }), redo: () => send({ do: "redo" }), reset: () => send({ do: "reset" }),
  pause: () => send({ do: "pause" }), slow: () => send({ do: "slow" }), gravity: () => send({ do: "gravity" }),
  unpin: () => send({ do: "unpin" }), save: () => send({ do: "save" }),
  pin: () => {
    const pressed = toggle($("pin"));
    for (const grip of grips.values()) grip.pinned = pressed;
  },
  mute: () => (sound.isOn = toggle($("mute"))),
  picture: () => {
    table.draw();
    const link = document.createElement("a");
    link.download = "crumple.png";
    canvas.toBlob((blob) => {
      link.href = URL.createObjectURL(blob);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  },
};
for (const [name, act] of Object.entries(tools)) $(name).addEventListener("click", act);
$("look").addEventListener("change", () => table.setLook($("look").value));
$("sheet").addEventListener("change", () => {
  if (!$("sheet").value) return;
  if ($("sheet").value === "foil") $("look").value = "foil";
  else if ($("look").value === "foil") $("look").value = "paper";
  table.setLook($("look").value);
  topology = 0;
  send({ do: "sheet", name: $("sheet").value });
  send({ do: "show", known: 0 });
});

const KEYS = { z: "undo", y: "redo", r: "reset", " ": "pause", s: "slow", g: "gravity", u: "unpin", p: "pin", m: "mute", i: "picture" };
window.addEventListener("keydown", (event) => {
  if (event.target.matches("button, select, input") && [" ", "Enter"].includes(event.key)) return; // it works the control
  const name = KEYS[event.key.toLowerCase()];
  if (!name || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  event.preventDefault();
  tools[name]();
});
window.addEventListener("resize", () => table.resize());
connect();
requestAnimationFrame(loop);
