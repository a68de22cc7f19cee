// The table with the sheet on it: renderer, camera, light, obstacles. It is drawn when something has changed.

import {
  BufferAttribute, BufferGeometry, CanvasTexture, Color, DoubleSide, Mesh, MeshBasicMaterial, MeshStandardMaterial, OrbitControls, PerspectiveCamera, Raycaster,
  Scene, Vector2, Vector3, WebGLRenderer,
} from "./vendor/three.min.js";
import { FlatShadow } from "./flat_shadow.js";
import { addLights, makeRoom } from "./light.js";
import { Marks } from "./marks.js";
import { Overlay } from "./overlay.js";
import { drawWood } from "./prints.js";
import { Sheet } from "./sheet.js";

const GROUND = "#cfc5b6";
const FLOOR = 0, FIXED = 1, LOOSE = 2; // obstacles: those of the last kind can be moved
const TURN = 0, PAN = 2, NOTHING = null;
const VIEW = new Vector3(0.1, -0.4, 0.34); // where the eye is from the middle of the sheet, but for the distance
const FILLED = 0.56, NARROW = 0.8; // of half the picture that a sheet may fill at the start: beside the panel, and without it
const BOARD = 0.5; // m after which the grain of the table begins again
const REPEAT = 1000, SRGB = "srgb";

export class Table {
  /** `isPlain`: whether to draw in a plain way, for machines without a graphics card. */
  constructor(canvas, isPlain) {
    Object.assign(this, { canvas, isPlain });
    this.renderer = new WebGLRenderer({ canvas, antialias: !isPlain, stencil: isPlain });
    this.renderer.shadowMap.enabled = !isPlain;
    this.scene = new Scene();
    this.scene.background = new Color(GROUND);
    this.makeCamera();
    this.sun = addLights(this.scene);
    this.sheet = new Sheet(this.scene, makeRoom(this.renderer));
    this.marks = new Marks(this.scene);
    this.overlay = new Overlay(this.scene);
    this.raycaster = new Raycaster();
    this.makeObstacles();
    this.shadow = isPlain ? new FlatShadow(this.scene, this.sheet.geometry, this.sun.position) : null;
    this.isStale = true;
    this.setQuality(Math.min(window.devicePixelRatio, 2), 5);
  }

  makeCamera() {
    this.camera = new PerspectiveCamera(35, 1, 0.01, 20);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(0.1, -0.4, 0.34);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.target.set(0, 0, 0.01);
    this.controls.mouseButtons = { LEFT: NOTHING, MIDDLE: PAN, RIGHT: TURN };
    this.controls.addEventListener("change", () => (this.isStale = true));
    this.controls.update();
  }

  makeObstacles() {
    const material = () => new MeshStandardMaterial({ roughness: 0.85, side: DoubleSide });
    this.obstacles = ["#ffffff", "#7d8a92", "#5f7f8c"].map((color) => {
      const mesh = new Mesh(new BufferGeometry(), material());
      mesh.material.color.set(color);
      mesh.frustumCulled = false;
      mesh.receiveShadow = true;
      this.scene.add(mesh);
      return mesh;
    });
    if (this.isPlain) this.obstacles[FLOOR].material = new MeshBasicMaterial({ side: DoubleSide, color: "#f4f0ea" });
    const wood = new CanvasTexture(drawWood());
    Object.assign(wood, { wrapS: REPEAT, wrapT: REPEAT, colorSpace: SRGB, anisotropy: this.isPlain ? 1 : 8 });
    this.obstacles[FLOOR].material.map = wood;
    this.obstacles[FIXED].castShadow = this.obstacles[LOOSE].castShadow = true;
  }

  /** `ratio`: pixels per point of the screen; `level`: how finely faces are drawn. */
  setQuality(ratio, level) {
    this.renderer.setPixelRatio(ratio);
    this.sheet.setLevel(level);
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.fov = Math.min(35 / Math.min(this.camera.aspect, 1), 75);
    this.camera.updateProjectionMatrix();
    this.draw(true); // at once: a canvas of another size is empty, which a film would show
  }

  /** Look at the whole of a sheet whose pattern is so large [m], as it was at the start: as near as it fits. */
  fit([width, height]) {
    const corner = new Vector3(), corners = [[-1, -1], [-1, 1], [1, -1], [1, 1]];
    const most = window.innerWidth < 900 ? NARROW : FILLED;
    const isSeen = () => corners.every(([a, b]) => {
      corner.set((a * width) / 2, (b * height) / 2, 0).project(this.camera);
      return Math.abs(corner.x) < most && Math.abs(corner.y) < FILLED;
    });
    this.controls.target.set(0, 0, 0.01);
    for (let size = 0.5; size < 20; size *= 1.05) {
      this.camera.position.copy(VIEW).multiplyScalar(size);
      this.controls.update();
      this.camera.updateMatrixWorld();
      if (isSeen()) break;
    }
  }

  setLook(name, picture) {
    this.sheet.setLook(name, picture);
    this.isStale = true;
  }

  /** Take obstacles: `about` each its name, count of nodes and whether it is loose, and the faces of all together. */
  setObstacles(about, faces) {
    this.bodies = [];
    let first = 0;
    for (const one of about) {
      this.bodies.push({ ...one, first, last: first + one.nodes });
      first += one.nodes;
    }
    const kinds = this.bodies.flatMap(({ name, nodes, loose }) => new Array(nodes).fill(name === "floor" ? FLOOR : loose ? LOOSE : FIXED));
    const parts = [[], [], []];
    for (let f = 0; f < faces.length; f += 3) parts[kinds[faces[f]]].push(faces[f], faces[f + 1], faces[f + 2]);
    this.obstacles.forEach((mesh, k) => {
      mesh.geometry.dispose();
      mesh.geometry.setIndex(new BufferAttribute(Uint32Array.from(parts[k]), 1));
    });
  }

  /** Show obstacles with nodes at `x`. */
  placeObstacles(x) {
    this.obstacleX = x.slice();
    for (const { geometry } of this.obstacles) {
      geometry.setAttribute("position", new BufferAttribute(this.obstacleX, 3));
      geometry.computeVertexNormals();
      geometry.boundingSphere = geometry.boundingBox = null;
    }
    const uv = new Float32Array((2 * x.length) / 3);
    for (let n = 0; n < x.length / 3; n++) for (let d = 0; d < 2; d++) uv[2 * n + d] = x[3 * n + d] / BOARD;
    this.obstacles[FLOOR].geometry.setAttribute("uv", new BufferAttribute(uv, 2));
    this.isStale = true;
  }

  /** Whether there is a floor. */
  showFloor(isThere) {
    this.isStale ||= this.obstacles[FLOOR].visible !== isThere;
    this.obstacles[FLOOR].visible = isThere;
    this.shadow?.show(isThere && this.bodies?.find((one) => one.name === "floor"), this.obstacleX);
  }

  /** Take a new mesh, and the structure under it, if it has one. */
  setSheet(arrays) {
    this.sheet.setMesh(arrays);
    this.overlay.setMesh(arrays, this.sheet.geometry);
  }

  /** Show the sheet with vertices at `x`. */
  place(x) {
    this.x = x;
    this.sheet.place(x);
    this.overlay.place(x, this.camera.position);
    this.isStale = true;
  }

  /** Show the structure under the sheet, or hide it; whether it is shown. */
  toggleOverlay() {
    this.overlay.show(!this.overlay.isShown);
    if (this.x) this.overlay.place(this.x, this.camera.position);
    this.isStale = true;
    return this.overlay.isShown;
  }

  /** The ray through a point of the screen. */
  ray(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster.ray;
  }

  /** The obstacle that a ray meets first and that can be moved: its name, the point and its middle; or null. */
  hitObstacle() {
    const found = this.raycaster.intersectObject(this.obstacles[LOOSE], false)[0];
    if (!found) return null;
    const body = this.bodies.find((one) => found.face.a >= one.first && found.face.a < one.last), middle = [0, 0, 0];
    for (let n = body.first; n < body.last; n++) for (let d = 0; d < 3; d++) middle[d] += this.obstacleX[3 * n + d] / body.nodes;
    return { name: body.name, point: found.point, distance: found.distance, middle };
  }

  /** Draw, if something has changed; whether it was drawn. */
  draw(always = false) {
    this.controls.update();
    if (!this.isStale && !always) return false;
    this.isStale = false;
    this.renderer.render(this.scene, this.camera);
    return true;
  }
}
