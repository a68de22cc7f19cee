// What is seen, in the address: it can be kept as a bookmark, sent to a colleague, or loaded again.

const LATER = 300; // ms after which a change is written

/** The values in the part of the address after #. */
export function readAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Writes `values()`, an object of plain values, into the address a moment after `touch()`; those that are null are left out. */
export class Address {
  constructor(values) {
    this.values = values;
    this.timer = null;
  }

  touch() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const known = Object.entries(this.values()).filter(([, value]) => value !== null && value !== undefined && value !== "");
      const text = known.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
      history.replaceState(null, "", `${location.pathname}${location.search}${text ? `#${text}` : ""}`);
    }, LATER);
  }
}

/** Numbers of a camera, and back. */
export const fromCamera = ({ camera, controls }) => [...camera.position.toArray(), ...controls.target.toArray()].map((v) => Number(v.toPrecision(5))).join(",");
export function toCamera({ camera, controls }, text) {
  const numbers = String(text).split(",").map(Number);
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return;
  camera.position.fromArray(numbers);
  controls.target.fromArray(numbers, 3);
  controls.update();
}
