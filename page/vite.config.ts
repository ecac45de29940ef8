import { createHash } from "node:crypto";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// One file: style and script put into the page, the script behind the data it reads, and the hashes of both into the
// policy, so that nothing else may run.
function oneFile(): Plugin {
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      let script = "", style = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code.replace(/<\/script/gi, "<\\/script");
        else if (name.endsWith(".css")) style += file.source;
        if (!name.endsWith(".html")) delete bundle[name];
      }
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset") continue;
        const policy =
          `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; ` +
          `base-uri 'none'; form-action 'none'`;
        file.source = String(file.source)
          .replace(/\s*<script type="module"[^>]*><\/script>/, "")
          .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
          .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
          .replace("</body>", () => `  <script type="module">${script}</script>\n  </body>`)
          .replace("%CSP%", () => policy);
      }
    },
  };
}

export default defineConfig({
  plugins: [svelte(), oneFile()],
  build: { target: "es2022", assetsInlineLimit: 1e8, modulePreload: false, reportCompressedSize: false },
});
