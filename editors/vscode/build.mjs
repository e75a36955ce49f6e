// Bundles the extension and its webview into dist. With --watch it goes on building as files change.

import { context } from 'esbuild';
import { join } from 'node:path';

const here = import.meta.dirname;
const common = {
    absWorkingDir: here,
    bundle: true,
    minify: true,
    sourcemap: false,
    legalComments: 'eof',
    logLevel: 'warning',
    outdir: join(here, 'dist'),
};
const host = {
    ...common,
    entryPoints: { extension: 'src/extension.ts' },
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
};
const webview = {
    ...common,
    entryPoints: { webview: 'src/webview/main.tsx' },
    platform: 'browser',
    format: 'iife',
    target: 'chrome130',
    loader: { '.ttf': 'file' },
    assetNames: '[name]',
    jsx: 'automatic',
    jsxImportSource: 'preact',
};

for (const options of [host, webview]) {
    const built = await context(options);
    if (process.argv.includes('--watch')) {
        await built.watch();
    } else {
        await built.rebuild();
        await built.dispose();
    }
}
