#!/bin/sh
# Makes the JSON Schemas of requests from the types of the official SDKs; see README.md. Needs Node.js and npm.
#
# Usage: tests/data/schemas/generate.sh [FOLDER]   (a folder for npm's packages, made if it is not there)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder"
[ -f package.json ] || npm init -y >/dev/null
npm install --silent @anthropic-ai/sdk openai ts-json-schema-generator@2 typescript zod

cat >tsconfig.json <<'END'
{"compilerOptions": {"module": "nodenext", "moduleResolution": "nodenext", "target": "es2022", "strict": true,
  "skipLibCheck": true, "noEmit": true}, "files": ["request.ts"]}
END
make() {
    printf 'export type { %s } from "%s";\n' "$2" "$3" >request.ts
    npx ts-json-schema-generator --tsconfig tsconfig.json --path request.ts --type "$2" --no-type-check --out whole.json
    node - "$1" "$here/$1.json" "$4" <<'END'
// Without descriptions, and a line for each definition, so that a difference can be read.
const { readFileSync, writeFileSync } = require("fs");
const [, , , out, sdk] = process.argv;
const { $ref, definitions } = JSON.parse(readFileSync("whole.json", "utf8"));
const { version } = JSON.parse(readFileSync(`node_modules/${sdk}/package.json`, "utf8"));
const bare = (schema) => {
  if (Array.isArray(schema)) return schema.map(bare);
  if (schema === null || typeof schema !== "object") return schema;
  const kept = Object.entries(schema).filter(([key]) => key !== "description" && key !== "deprecated");
  return Object.fromEntries(kept.map(([key, value]) => {
    const named = key === "properties" && !Array.isArray(value);
    return [key, named ? Object.fromEntries(Object.entries(value).map(([n, v]) => [n, bare(v)])) : bare(value)];
  }));
};
const lines = Object.keys(definitions).sort()
  .map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(bare(definitions[name]))}`);
const head = `  "$comment": ${JSON.stringify(`${sdk} ${version}`)},\n  "$ref": ${JSON.stringify($ref)},\n`;
writeFileSync(out, `{\n${head}  "definitions": {\n${lines.join(",\n")}\n  }\n}\n`);
END
}
make anthropic MessageCreateParamsStreaming @anthropic-ai/sdk/resources/messages @anthropic-ai/sdk
make chat ChatCompletionCreateParamsStreaming openai/resources/chat/completions openai
make responses ResponseCreateParamsStreaming openai/resources/responses/responses openai
