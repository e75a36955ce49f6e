// Writes src/protocol.ts from editors/protocol.json, or with --check fails when it is stale. The schema comes of the server's own types, so that
// no type of the wire is written by hand here.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from 'json-schema-to-typescript';

const here = import.meta.dirname;
const target = join(here, 'src/protocol.ts');
const { $defs } = JSON.parse(readFileSync(join(here, '../protocol.json'), 'utf8'));

/** A root that reaches every definition: the compiler leaves out what nothing refers to. */
const root = {
    title: 'Everything',
    description: 'Holds one of each type, so that all are written.',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(Object.keys($defs).map((name) => [name, { $ref: `#/$defs/${name}` }])),
    $defs: structuredClone($defs),
};

/** Leaves out what has no meaning in TypeScript, and words beside a reference, which would write its type once more. */
function plain(schema) {
    if (Array.isArray(schema)) return schema.map(plain);
    if (schema === null || typeof schema !== 'object') return schema;
    if ('$ref' in schema) return { $ref: schema.$ref };
    const kept = Object.entries(schema).filter(([key, value]) => key !== 'format' || typeof value !== 'string');
    return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]));
}

const text = await compile(plain(root), 'Everything', {
    additionalProperties: false,
    bannerComment: '// The types of what server and plugin say to each other, written by generate.mjs from editors/protocol.json.',
    format: true,
    style: { singleQuote: true, tabWidth: 4, printWidth: 120 },
});

if (process.argv.includes('--check')) {
    if (readFileSync(target, 'utf8') !== text) {
        console.error('src/protocol.ts is stale: run `npm run generate` in editors/vscode');
        process.exit(1);
    }
} else {
    writeFileSync(target, text);
}
