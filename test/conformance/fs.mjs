// Node.js 20 has no fs.globSync, which the conformance suite imports for a command
// that the tests do not use. This module, loaded with --import, gives the suite a
// module "fs" that has it.
import { register } from "node:module";

const shim = `export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];`;
const hooks = `export async function resolve(name, context, next) {
  if (name === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")) {
    return { url: ${JSON.stringify("data:text/javascript," + encodeURIComponent(shim))}, shortCircuit: true };
  }
  return next(name, context);
}`;
register("data:text/javascript," + encodeURIComponent(hooks));
