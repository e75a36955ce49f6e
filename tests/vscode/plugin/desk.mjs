// A user's desk: a window of VS Code, its files, the chat of the extension, and waits with a bound.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const BOUND = 60_000;

export class Desk {
    #answers = [];

    constructor({ page, host, address, workspace, home }) {
        Object.assign(this, { page, host, address, workspace, home });
        createInterface({ input: process.stdin }).on('line', () => this.#answers.shift()?.());
    }

    /** Opens the window and waits for its parts; for the hand in its extension host too, if there will be one. */
    async load(hasHand) {
        const arrived = hasHand ? this.host.next() : undefined;
        await this.page.goto(this.address);
        await this.page.locator('.monaco-workbench').waitFor({ timeout: BOUND });
        await arrived;
    }

    /** Reloads the window, as the user does. */
    async reload() {
        const arrived = this.host.next();
        await this.page.reload();
        await arrived;
    }

    say(words) {
        console.log(words);
    }

    /** Opens a gate of the scripted model. */
    openGate(name) {
        console.log(`gate: ${name}`);
    }

    /** Waits until a reply of the scripted model stands at a gate. */
    async gateReached(name) {
        const answer = new Promise((done) => this.#answers.push(done));
        console.log(`reached: ${name}`);
        await answer;
    }

    /** Asks again and again until `probe` gives something true. */
    async until(what, probe) {
        const end = Date.now() + BOUND;
        for (;;) {
            const found = await probe();
            if (found) return found;
            if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
            await new Promise((done) => setTimeout(done, 10));
        }
    }

    path(name) {
        return join(this.workspace, name);
    }

    disk(name) {
        return readFileSync(this.path(name), 'utf8');
    }

    write(name, text) {
        mkdirSync(dirname(this.path(name)), { recursive: true });
        writeFileSync(this.path(name), text);
    }

    /** Writes a file and shows it, with the focus in it. */
    async edit(name, text, line = 0) {
        if (text !== undefined) this.write(name, text);
        await this.host.run(async (vscode, path) => {
            const document = await vscode.workspace.openTextDocument(path);
            await vscode.window.showTextDocument(document, { preview: false });
        }, this.path(name));
        await this.until(`the editor of ${name}`, () => this.host.run((vscode, path) =>
            vscode.window.activeTextEditor?.document.uri.fsPath === path, this.path(name)));
        await this.cursor(line);
    }

    /** Puts the cursor there, with the focus in the text. The window has done so when this is done: it takes word by word in turn. */
    async cursor(line, character = 0) {
        await this.host.run(async (vscode, ...place) => {
            const at = new vscode.Position(...place);
            vscode.window.activeTextEditor.selection = new vscode.Selection(at, at);
            await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
        }, line, character);
        await this.page.locator('.monaco-editor.focused:not(.review-widget *)').first().waitFor({ timeout: BOUND });
    }

    /** The text of an open document. */
    async text(name) {
        return await this.host.run((vscode, path) =>
            vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path)?.getText(), this.path(name));
    }

    async command(name, ...given) {
        return await this.host.run((vscode, id, args) => void vscode.commands.executeCommand(id, ...args), name, given);
    }

    /** What the extension knows. */
    async head() {
        return await this.host.run((vscode) => vscode.extensions.getExtension('ropewalk.ropewalk').exports.hub.store.head);
    }

    /** The items of the conversation. */
    async items() {
        return await this.host.run((vscode) =>
            [...vscode.extensions.getExtension('ropewalk.ropewalk').exports.hub.store.transcript.items.values()]);
    }

    async running() {
        await this.until('the server', () => this.host.run((vscode) => {
            const extension = vscode.extensions.getExtension('ropewalk.ropewalk');
            return extension?.isActive && extension.exports.hub.health.state === 'running';
        }));
    }

    async serverPid() {
        return await this.host.run((vscode) => vscode.extensions.getExtension('ropewalk.ropewalk').exports.hub.client.pid);
    }

    /** Does something while the server stands still, and answers nothing. */
    async held(act) {
        const pid = await this.serverPid();
        process.kill(pid, 'SIGSTOP');
        try {
            await act();
        } finally {
            process.kill(pid, 'SIGCONT');
        }
    }

    async hunks(count) {
        await this.until(`${count} changes`, () => this.host.run((vscode, wanted) =>
            vscode.extensions.getExtension('ropewalk.ropewalk').exports.hub.store.head.hunks.length === wanted, count));
        return (await this.head()).hunks;
    }

    async idle() {
        await this.until('the end of the turn', async () => (await this.head()).running === null);
    }

    /** The extension's keys: a chord, then a letter. */
    async keys(letter) {
        await this.page.keyboard.press('Shift+Alt+KeyW');
        await this.page.keyboard.press(letter);
    }

    /** Opens the box to ask in, by keyboard. */
    async openAskingBox() {
        await this.keys('a');
        await this.page.locator('.review-widget .monaco-editor.focused').first().waitFor({ timeout: BOUND });
    }

    /** Asks in place by keyboard, about what is selected. */
    async ask(words) {
        await this.openAskingBox();
        await this.page.keyboard.type(words);
        await this.page.keyboard.press('Enter');
    }

    /** The chat's own page: a frame inside a frame. */
    async chat() {
        await this.command('ropewalk.ui.chat');
        return await this.until('the chat', async () => {
            for (const frame of this.page.frames()) {
                if (await frame.locator('[data-ready] #message').count().catch(() => 0)) return frame;
            }
            return undefined;
        });
    }

    /** Waits for a notification with these words. Driven from outside, VS Code shows none by itself, only in the list. */
    async notification(words) {
        const row = this.page.locator('.notification-list-item', { hasText: words });
        await this.until(`a notification with “${words}”`, async () => {
            await this.command('notifications.showList');
            return (await row.count()) > 0;
        });
    }

    async theme(name) {
        await this.host.run(async (vscode, theme) => {
            const target = vscode.ConfigurationTarget.Global;
            await vscode.workspace.getConfiguration('workbench').update('colorTheme', theme, target);
        }, name);
    }

    /** Makes the side bar in which the chat is this wide, by its edge, as the user does. */
    async widen(width) {
        const bar = this.page.locator('.part.sidebar');
        const { x, y, width: before, height } = await bar.boundingBox();
        const { mouse } = this.page;
        await mouse.move(x + before, y + height / 2);
        await mouse.down();
        await mouse.move(x + width, y + height / 2, { steps: 5 });
        await mouse.up();
        await this.until(`a bar of ${width}`, async () => Math.abs((await bar.boundingBox()).width - width) < 8);
    }

    /** Keeps what the window shows, for people to look at. */
    async picture(name) {
        const folder = process.env.ROPEWALK_PICTURES;
        if (folder) await this.page.screenshot({ path: join(folder, `${name}.png`) });
    }
}
