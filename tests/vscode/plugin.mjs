// Runs one case with the packaged extension in real VS Code: its web server with the .vsix installed, a headless browser whose keys and
// mouse are the user's, and a hand in the extension host to look at documents. Prints what the case says, and exits with 0 if it holds.
//
//   node plugin.mjs --extensions FOLDER --case MODULE --workspace FOLDER [--server PROGRAM | --inside PROGRAM] [--untrusted] [--dialogs]
//
// FOLDER of extensions is one that VS Code has installed the .vsix into; --inside takes the one with a server inside, beside it, behind
// which this program is. VS Code refuses to ask in dialogs while it runs tests: with --dialogs the hand is an extension like any other.
// MODULE exports `run(desk)`. Lines `gate: NAME` on standard
// output ask whoever started this to open a gate of the scripted model, `reached: NAME` to say `reached` once a reply stands at it.
// With $ROPEWALK_PICTURES, a folder, the case's pictures are left there.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Desk } from './plugin/desk.mjs';
import { Host } from './plugin/host.mjs';

const PATIENCE = 240_000;
// What VS Code always says here: natives that were not built, and services that are not there.
const NOISE = /ChatModelSelection|Agent ?Host|AccountPolicy|bindings file|build.Release|ENOTFOUND|github/;
const here = dirname(fileURLToPath(import.meta.url));
const editors = process.env.ROPEWALK_EDITORS ?? join(here, '../../target/editors');
const { chromium } = createRequire(join(editors, 'vscode/modules/package.json'))('playwright-core');
const { values: given } = parseArgs({
    options: {
        extensions: { type: 'string' },
        case: { type: 'string' },
        workspace: { type: 'string' },
        server: { type: 'string' },
        inside: { type: 'string' },
        untrusted: { type: 'boolean', default: false },
        dialogs: { type: 'boolean', default: false },
    },
});

const home = mkdtempSync(join(tmpdir(), 'ropewalk-plugin-'));
const processes = [];
let browser;
let desk;
const chatter = [];
const overdue = setTimeout(() => finish(`no result within ${PATIENCE / 1000} s`), PATIENCE);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => finish(`ended by ${signal}`));

try {
    const extensions = join(home, 'extensions');
    cpSync(given.inside ? join(dirname(given.extensions), 'inside') : given.extensions, extensions, { recursive: true });
    if (given.dialogs) installDriver(extensions);
    settings();
    const host = await listen();
    const port = await startServer(extensions, host.port);
    desk = await open(port, host);
    const { run } = await import(pathToFileURL(resolve(given.case)).href);
    await run(desk);
    await finish();
} catch (error) {
    await finish(error.stack ?? String(error));
}

/** Settings of this machine, as a user may have them. */
function settings() {
    const folder = join(home, 'user-data/Machine');
    mkdirSync(folder, { recursive: true });
    const all = {
        'files.autoSave': 'off',
        'workbench.startupEditor': 'none',
        'editor.minimap.enabled': false,
        'chat.commandCenter.enabled': false,
        'workbench.secondarySideBar.defaultVisibility': 'hidden',
        'chat.disableAIFeatures': true,
        ...(given.server ? { 'ropewalk.server.path': given.server } : {}),
    };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(all));
}

/** Puts the driver among the extensions, as VS Code lists them. */
function installDriver(extensions) {
    const list = join(extensions, 'extensions.json');
    const path = join(extensions, 'ropewalk-driver');
    cpSync(join(here, 'driver'), path, { recursive: true });
    const entry = { identifier: { id: 'ropewalk.ropewalk-driver' }, version: '0.0.0', location: { $mid: 1, path, scheme: 'file' }, relativeLocation: 'ropewalk-driver' };
    writeFileSync(list, JSON.stringify([...JSON.parse(readFileSync(list, 'utf8')), entry]));
}

/** Waits for the driver in the extension host on a free port; each window that is opened has one. */
function listen() {
    const host = new Host();
    const server = createServer((socket) => host.take(socket));
    return new Promise((done) => {
        server.listen(0, '127.0.0.1', () => {
            host.port = server.address().port;
            done(host);
        });
    });
}

function startServer(extensions, driverPort) {
    const node = join(editors, 'vscode/node/bin/node');
    const options = [
        join(editors, 'vscode/server/out/server-main.js'),
        '--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--accept-server-license-terms',
        '--telemetry-level', 'off', '--enable-smoke-test-driver',
        '--server-data-dir', join(home, 'server-data'),
        '--user-data-dir', join(home, 'user-data'),
        '--extensions-dir', extensions,
        ...(given.untrusted ? [] : ['--disable-workspace-trust']),
    ];
    const inside = given.inside ? { ROPEWALK_INSIDE: given.inside } : {};
    const env = { ...process.env, ...inside, ROPEWALK_DRIVER_PORT: String(driverPort) };
    const server = spawn(node, options, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env });
    processes.push(server);
    return new Promise((done, failed) => {
        let said = '';
        server.on('error', failed);
        server.on('exit', (status) => failed(new Error(`VS Code's server ended (${status})\n${said}`)));
        const hear = (chunk) => {
            said += chunk;
            const port = /agent listening on (\d+)/.exec(said)?.[1];
            if (port) done(Number(port));
        };
        server.stdout.on('data', hear);
        server.stderr.on('data', hear);
    });
}

/** Opens the workbench in a browser, with a hand in its extension host. */
async function open(port, host) {
    browser = await chromium.launch({
        executablePath: process.env.ROPEWALK_CHROMIUM ?? '/usr/bin/chromium',
        args: [
            '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync',
        ],
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('crash', () => finish('the browser page crashed'));
    page.on('console', (message) => {
        if (!NOISE.test(message.text())) chatter.push(message.text().slice(0, 600));
    });
    await page.exposeFunction('codeAutomationExit', () => {});
    await page.exposeFunction('codeAutomationLog', () => {});
    const remote = `vscode-remote://127.0.0.1:${port}`;
    const driver = join(home, 'driver');
    cpSync(join(here, 'driver'), driver, { recursive: true });
    const payload = [
        ['extensionDevelopmentPath', `${remote}${driver}`],
        ['extensionTestsPath', `${remote}${join(driver, 'driver.js')}`],
    ];
    const address = new URL(`http://127.0.0.1:${port}/`);
    address.searchParams.set('folder', resolve(given.workspace));
    if (!given.untrusted && !given.dialogs) address.searchParams.set('payload', JSON.stringify(payload));
    const found = new Desk({ page, host, address: address.href, workspace: resolve(given.workspace), home });
    await found.load(!given.untrusted);
    return found;
}

/** Ends everything that was started, says what went wrong, and exits. */
async function finish(problem) {
    clearTimeout(overdue);
    if (problem) {
        console.error(problem);
        await desk?.picture('failure').catch(() => {});
        console.error(chatter.slice(-25).join('\n'));
        printLogs();
    }
    await browser?.close().catch(() => {});
    for (const { pid, exitCode } of processes) {
        try {
            if (exitCode === null) process.kill(-pid, 'SIGKILL');
        } catch {
            // It has ended meanwhile.
        }
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    process.exit(problem ? 1 : 0);
}

function printLogs() {
    const logs = join(home, 'user-data/logs');
    if (!existsSync(logs)) return;
    for (const name of readdirSync(logs, { recursive: true })) {
        if (/(Ropewalk|remoteexthost)\.log$/.test(name)) console.error(`${name}:\n${readFileSync(join(logs, name), 'utf8').slice(-3000)}`);
    }
}
