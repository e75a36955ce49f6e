// A user who types every 20 ms through an answer, a question, and an accepted change: no key is lost or misplaced, the focus stays, no key
// answers, and one undo takes back the accepted change alone.

import assert from 'node:assert/strict';

const BEFORE = 'typed:\n\ndef greet(name):\n    print("hello")\n';

export async function run(desk) {
    await desk.edit('greet.py', BEFORE, 0);
    await desk.running();
    const { page } = desk;
    await page.keyboard.press('End');
    await desk.host.run((vscode) => void vscode.extensions.getExtension('ropewalk.ropewalk').exports.hub.run('prompt', { prompt: 'change it' }));
    const typist = new Typist(page);
    await desk.until('the question', async () => (await desk.head()).approvals.length === 1);
    await typist.more(20);
    assert.equal((await desk.head()).approvals.length, 1, 'no key has answered');
    await desk.picture('typing_question');
    await typist.stop();
    // The list takes the focus, since the user has asked for it.
    await desk.command('ropewalk.ui.answer');
    await page.locator('.quick-input-widget .monaco-list-row').nth(1).waitFor();
    await page.keyboard.type('once');
    await page.keyboard.press('Enter');
    await desk.hunks(1);
    await desk.idle();
    await accept(desk, typist);
}

async function accept(desk, typist) {
    const { page } = desk;
    const [{ id }] = (await desk.head()).hunks;
    typist.start();
    await typist.more(10);
    await desk.host.run((vscode, hunk) => void vscode.commands.executeCommand('ropewalk.ui.accept', hunk), id);
    await typist.more(100);
    const isThere = (await desk.text('greet.py')).includes('hello {name}');
    await typist.stop();
    desk.say(`the change came ${isThere ? 'amid the typing' : 'in the first pause'}`);
    await desk.until('the accepted text', async () => (await desk.text('greet.py')).includes('hello {name}'));
    const wanted = BEFORE.replace('typed:', `typed:${typist.typed}`).replace('"hello"', 'f"hello {name}"');
    let now;
    await desk.until('every key', async () => (now = await desk.text('greet.py')).length >= wanted.length);
    assert.equal(now, wanted);
    const focused = await desk.host.run((vscode) => vscode.window.activeTextEditor?.document.uri.path.endsWith('greet.py'));
    assert.ok(focused);
    await undo(desk, wanted);
}

/** Undo steps back through the text; the accepted change goes in one step of its own, and comes back in one. */
async function undo(desk, wanted) {
    const states = [wanted];
    for (let step = 0; step < 200 && states.at(-1).includes('{name}'); step += 1) {
        await desk.page.keyboard.press('Control+Z');
        states.push(await desk.until('a step back', async () => {
            const text = await desk.text('greet.py');
            return text !== states.at(-1) && text;
        }));
    }
    const [before, after] = states.slice(-2);
    assert.equal(after, before.replace('f"hello {name}"', '"hello"'), 'the step took the change alone');
    await desk.page.keyboard.press('Control+Y');
    await desk.until('the step forward', async () => (await desk.text('greet.py')) === before);
}

/** Presses a key every 20 ms until it is stopped. */
class Typist {
    typed = '';
    #going = Promise.resolve();
    #isGoing = false;
    #waiting = [];

    constructor(page) {
        this.page = page;
        this.start();
    }

    start() {
        this.#isGoing = true;
        this.#going = (async () => {
            while (this.#isGoing) {
                const key = 'abcdefghij'[this.typed.length % 10];
                await this.page.keyboard.press(key);
                this.typed += key;
                for (const one of this.#waiting) if (this.typed.length >= one.at) one.done();
                await new Promise((done) => setTimeout(done, 20));
            }
        })();
    }

    /** Waits until this many keys more are pressed. */
    more(count) {
        return new Promise((done) => this.#waiting.push({ at: this.typed.length + count, done }));
    }

    async stop() {
        this.#isGoing = false;
        await this.#going;
    }
}
