// Asks the library for its numbers: node ask.mjs synod_wasm.wasm
import { readFileSync } from "node:fs";

const bytes = readFileSync(process.argv[2]);
const { instance } = await WebAssembly.instantiate(bytes, {});
const { digest, states } = instance.exports;
console.log(`${BigInt.asUintN(64, digest())} ${BigInt.asUintN(64, states())}`);
