// Runs extension tests in real VS Code: its web server, a headless browser for the window, and the
// tests in the real extension host. Prints the lines that the tests log with `test: ` in front (all
// of the log after a failure), and exits with the tests' own code.
//
//   node run.mjs --extension FOLDER --tests MODULE --workspace FOLDER [--keep]
//
// FOLDER is an extension (package.json); MODULE exports `run()`. Both are copied, with the language
// client's modules beside them, to a temporary folder, where profile, settings and logs live too.
// Environment variables reach the tests. It knows nothing of what is tested. With $ROPEWALK_PICTURES, a folder, the
// tests' `picture: NAME` lines leave NAME.png there.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const PATIENCE = 240_000;
// What VS Code always says here: natives that were not built, and services that are not there.
const NOISE = /ChatModelSelection|AgentHost|AccountPolicy|bindings file|build\/Release|ENOTFOUND|'github'/;
const here = dirname(fileURLToPath(import.meta.url));
const editors = process.env.ROPEWALK_EDITORS ?? join(here, '../../target/editors');
const modules = join(editors, 'vscode/modules');
const { chromium } = createRequire(join(modules, 'package.json'))('playwright-core');

const { values: given } = parseArgs({
    options: {
        extension: { type: 'string' },
        tests: { type: 'string' },
        workspace: { type: 'string' },
        keep: { type: 'boolean', default: false },
    },
});
for (const name of ['extension', 'tests', 'workspace']) {
    if (!given[name] || !existsSync(given[name])) {
        console.error(`--${name} must name something that exists`);
        process.exit(2);
    }
}

const home = mkdtempSync(join(tmpdir(), 'ropewalk-vscode-'));
const extension = join(home, 'extension');
cpSync(given.extension, extension, { recursive: true, dereference: true });
cpSync(dirname(given.tests), join(extension, 'tests'), { recursive: true, dereference: true });
if (!existsSync(join(extension, 'node_modules'))) {
    const wanted = (path) => !path.includes('playwright-core');
    cpSync(join(modules, 'node_modules'), join(extension, 'node_modules'), {
        recursive: true,
        filter: wanted,
    });
}

let server;
let browser;
let code = 1;
const chatter = [];
const overdue = setTimeout(() => finish(`no result within ${PATIENCE / 1000} s`), PATIENCE);
for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => finish(`ended by ${signal}`));
}

try {
    const port = await startServer();
    code = await runTests(port);
    await finish();
} catch (error) {
    await finish(error.stack ?? String(error));
}

/** Starts VS Code's web server on a free port of its own choice; the port. */
function startServer() {
    const node = join(editors, 'vscode/node/bin/node');
    const main = join(editors, 'vscode/server/out/server-main.js');
    const options = [
        '--host', '127.0.0.1', '--port', '0', '--without-connection-token',
        '--accept-server-license-terms', '--telemetry-level', 'off', '--disable-workspace-trust',
        '--enable-smoke-test-driver',
        '--server-data-dir', join(home, 'server-data'),
        '--user-data-dir', join(home, 'user-data'),
        '--extensions-dir', join(home, 'extensions'),
    ];
    server = spawn(node, [main, ...options], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    return new Promise((done, failed) => {
        let said = '';
        server.on('error', failed);
        server.on('exit', (status) => failed(new Error(`VS Code's server ended (${status})\n${said}`)));
        const listen = (chunk) => {
            said += chunk;
            const port = /agent listening on (\d+)/.exec(said)?.[1];
            if (port) done(Number(port));
        };
        server.stdout.on('data', listen);
        server.stderr.on('data', listen);
    });
}

/** Opens the workbench in a browser and waits for the tests' exit code. */
async function runTests(port) {
    browser = await chromium.launch({
        executablePath: process.env.ROPEWALK_CHROMIUM ?? '/usr/bin/chromium',
        args: [
            '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync',
        ],
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('crash', () => finish('the browser page crashed'));
    const ended = new Promise((done) => page.exposeFunction('codeAutomationExit', done));
    await page.exposeFunction('codeAutomationLog', (kind, [text, ...more]) => {
        const own = /^test: (.*)$/s.exec(text);
        const picture = /^picture: (\w+)$/.exec(text);
        if (own) console.log(own[1]);
        else if (picture) takePicture(page, picture[1]);
        else if (!NOISE.test(text)) chatter.push([`[${kind}]`, text, ...more].join(' ').slice(0, 500));
    });
    const remote = `vscode-remote://127.0.0.1:${port}`;
    const payload = [
        ['extensionDevelopmentPath', `${remote}${extension}`],
        ['extensionTestsPath', `${remote}${join(extension, 'tests', basename(given.tests))}`],
    ];
    const address = new URL(`http://127.0.0.1:${port}/`);
    address.searchParams.set('folder', resolve(given.workspace));
    address.searchParams.set('payload', JSON.stringify(payload));
    await page.goto(address.href);
    return await ended;
}

/** Keeps what the window shows as NAME.png in $ROPEWALK_PICTURES, if that is a folder, for people to look at. */
function takePicture(page, name) {
    const folder = process.env.ROPEWALK_PICTURES;
    if (folder) page.screenshot({ path: join(folder, `${name}.png`) }).catch(() => {});
}

/** Ends everything that was started, says what went wrong, and exits. */
async function finish(problem) {
    clearTimeout(overdue);
    if (problem) {
        console.error(problem);
        code = 1;
    }
    if (code !== 0) {
        console.error(chatter.slice(-40).join('\n'));
        printHostLogs();
    }
    await browser?.close().catch(() => {});
    if (server?.exitCode === null) {
        server.removeAllListeners('exit');
        try {
            process.kill(-server.pid, 'SIGKILL');
        } catch {
            // It has ended meanwhile.
        }
    }
    if (given.keep) console.log(`kept ${home}`);
    else rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    process.exit(code);
}

/** The extension host's log, where a test that never began says why. */
function printHostLogs() {
    const logs = join(home, 'server-data', 'data', 'logs');
    const roots = [logs, join(home, 'user-data', 'logs')].filter(existsSync);
    for (const root of roots) {
        for (const name of readdirSync(root, { recursive: true })) {
            if (/remoteexthost\.log$/.test(name)) {
                console.error(readFileSync(join(root, name), 'utf8').slice(-4000));
            }
        }
    }
}
