import { createServer } from "node:http";

createServer((req, resp) => {
  console.log(`the app answers ${req.method} ${req.url}`);
  resp.end("a page of the app");
}).listen(Number(process.env.COPPICE_PORT), "127.0.0.1", () => console.log("the app listens"));
