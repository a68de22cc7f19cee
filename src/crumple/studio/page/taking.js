// Hands in a scene that is being simulated: drag the sheet, and the simulation feels it from the next frame on.

import { Vector3 } from "./vendor/three.min.js";

const EVERY = 40; // ms between two moves that are sent

export class Taking {
  /** `send(command, run)`. */
  constructor(send) {
    this.send = send;
    this.isOn = false;
    this.grips = new Map();
  }

  /** Listen to the pane of a display. */
  watch(display) {
    const on = (name, act) => display.element.addEventListener(name, act, { capture: true });
    on("pointerdown", (event) => this.down(display, event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.up(event));
  }

  down(display, event) {
    const { run } = display;
    if (!this.isOn || event.button !== 0 || !["running", "paused", "pausing"].includes(run.simulation?.state)) return;
    const hit = display.hit(...within(display.element, event));
    if (!hit) return;
    event.stopImmediatePropagation();
    display.element.setPointerCapture(event.pointerId);
    const { origin, direction } = rayOf(display, event);
    this.grips.set(event.pointerId, { display, point: hit.point.clone(), last: 0 });
    this.send({ do: "grab", hand: event.pointerId, origin: origin.toArray(), direction: direction.toArray() }, run.id);
  }

  move(event) {
    const grip = this.grips.get(event.pointerId);
    if (!grip) return;
    event.stopImmediatePropagation();
    const { display, point } = grip, { origin, direction } = rayOf(display, event);
    const facing = display.camera.getWorldDirection(new Vector3());
    point.copy(origin).addScaledVector(direction, facing.dot(point.clone().sub(origin)) / facing.dot(direction));
    if (event.timeStamp - grip.last >= EVERY) this.tell(grip, event);
  }

  up(event) {
    const grip = this.grips.get(event.pointerId);
    if (!grip) return;
    event.stopImmediatePropagation();
    this.grips.delete(event.pointerId);
    this.tell(grip, event);
    this.send({ do: "release", hand: event.pointerId }, grip.display.run.id);
  }

  tell(grip, event) {
    grip.last = event.timeStamp;
    this.send({ do: "move", hand: event.pointerId, position: grip.point.toArray() }, grip.display.run.id);
  }
}

/** Where a pointer is in an element, -1 to 1 from left to right and bottom to top. */
function within(element, { clientX, clientY }) {
  const box = element.getBoundingClientRect();
  return [(2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height];
}

/** The ray through a pointer. */
function rayOf(display, event) {
  const [x, y] = within(display.element, event), origin = display.camera.position.clone();
  return { origin, direction: new Vector3(x, y, 0.5).unproject(display.camera).sub(origin).normalize() };
}
