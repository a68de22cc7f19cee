// The socket to the sheet: asks for what is new, one wish at a time, and sends commands.

import { decodePacket } from "./data.js";

const PATIENCE = 2500; // ms without an answer after which it is asked for again: the sheet is shown twice a second at least

export class Link {
  /** `onPacket(values, arrays)` for every view of the sheet, `onNews({waiting, failed, error, lost, late})` for the rest. */
  constructor({ onPacket, onNews }) {
    Object.assign(this, { onPacket, onNews });
    this.topology = 0;
    this.seen = -1;
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.topology = 0;
      this.seen = -1;
      this.ask();
    };
    this.socket.onmessage = ({ data }) => (typeof data === "string" ? this.onNews(JSON.parse(data)) : this.receive(data));
    this.socket.onclose = () => {
      this.onNews({ lost: true });
      setTimeout(() => this.connect(), 1000);
    };
  }

  receive(buffer) {
    const { values, arrays } = decodePacket(buffer);
    this.topology = values.topology;
    this.seen = values.version;
    this.ask(); // the next one is on its way while this one is drawn
    this.onPacket(values, arrays);
  }

  ask() {
    clearTimeout(this.timer);
    this.send({ do: "show", known: this.topology, seen: this.seen });
    this.timer = setTimeout(() => {
      if (this.socket.readyState !== WebSocket.OPEN) return;
      this.onNews({ late: true });
      this.ask();
    }, PATIENCE);
  }

  send(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}
