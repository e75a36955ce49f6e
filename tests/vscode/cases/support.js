// What the cases share: a document to work in, waits with a bound, and cases run one by one.
'use strict';

const vscode = require('vscode');
const path = require('node:path');
const fs = require('node:fs');

const BOUND = 60_000;

/** Activates the test client: `{ client, progress }`. Nothing is saved but by the tests. */
exports.start = async () => {
    const files = vscode.workspace.getConfiguration('files');
    await files.update('autoSave', 'off', vscode.ConfigurationTarget.Global);
    const extension = vscode.extensions.getExtension('ropewalk.ropewalk-test-client');
    return await extension.activate();
};

/** The path of a file in the workspace. */
exports.file = (name) => path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, name);

/** The text of a file in the workspace, on disk. */
exports.disk = (name) => fs.readFileSync(exports.file(name), 'utf8');

/** Writes a file in the workspace; its URI. */
exports.write = (name, text) => {
    fs.writeFileSync(exports.file(name), text);
    return vscode.Uri.file(exports.file(name));
};

/** Writes a file and shows it in an editor, with the cursor at its start. */
exports.open = async (name, text) => {
    const uri = exports.write(name, text);
    const editor = await vscode.window.showTextDocument(uri, { preview: false });
    await exports.waitFor('the text on disk', () => editor.document.getText() === text);
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    return editor;
};

/** Types text where the cursor is, as the user's keys do. */
exports.type = async (text) => await vscode.commands.executeCommand('type', { text });

/** Says something in the test's output. */
exports.say = (text) => console.log(`test: ${text}`);

/** Has the window's picture taken, if somebody wants to look at it (see run.mjs). */
exports.picture = async (name) => {
    console.log(`picture: ${name}`);
    if (process.env.ROPEWALK_PICTURES) await new Promise((done) => setTimeout(done, 2000));
};

/** Asks again and again, at most for a minute, until `probe` gives something true. */
exports.waitFor = async (what, probe) => {
    const end = Date.now() + BOUND;
    for (;;) {
        const found = await probe();
        if (found) return found;
        if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
        await new Promise((done) => setTimeout(done, 5));
    }
};

/** Runs each case, `[name, function]`, says how it went, and fails if any failed. */
exports.runCases = async (cases) => {
    const failed = [];
    for (const [name, body] of cases) {
        try {
            await body();
            exports.say(`ok ${name}`);
        } catch (error) {
            failed.push(name);
            exports.say(`FAILED ${name}: ${error.stack ?? error}`);
        }
        await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    }
    if (failed.length > 0) throw new Error(`${failed.length} failed: ${failed.join(', ')}`);
};
