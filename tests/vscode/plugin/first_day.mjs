// From an empty home to the first accepted change, as the README says, with the package that has the server inside: a key is set by hand,
// a line is selected, a request is made, the change is accepted. Says how many keys and seconds it took.

import assert from 'node:assert/strict';

const BEFORE = 'def greet(name):\n    print("hello")\n';
const AFTER = 'def greet(name):\n    print(f"hello {name}")\n';

export async function run(desk) {
    const began = Date.now();
    desk.write('greet.py', BEFORE);
    const hands = new Hands(desk.page);
    await key(desk, hands);
    await hands.press('Control+P');
    await hands.type('greet.py');
    await desk.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'greet.py' }).first().waitFor();
    await hands.press('Enter');
    await desk.page.locator('.monaco-editor.focused').first().waitFor();
    for (const one of ['ArrowDown', 'Shift+End']) await hands.press(one);
    await hands.chord('a');
    await desk.page.locator('.review-widget .monaco-editor.focused').first().waitFor();
    await hands.type('greet the user by name');
    await hands.press('Enter');
    await desk.page.locator('.codelens-decoration', { hasText: 'Accept' }).first().waitFor();
    await desk.idle();
    await hands.chord('n');
    await desk.page.locator('.review-widget').first().waitFor();
    assert.equal(await desk.text('greet.py'), BEFORE);
    await hands.chord('y');
    await desk.until('the accepted text', async () => (await desk.text('greet.py')) === AFTER);
    const seconds = (Date.now() - began) / 1000;
    desk.say(`first accepted edit after ${hands.keys} keys and ${seconds.toFixed(1)} s`);
    assert.ok(hands.keys < 100 && seconds < 300);
}

/** *Ropewalk: Set API Key…*, by the palette. */
async function key(desk, hands) {
    const { page } = desk;
    const row = (words) => page.locator('.quick-input-widget .monaco-list-row', { hasText: words }).first();
    await hands.press('F1');
    await page.locator('.quick-input-widget input').first().waitFor();
    await hands.type('set api key');
    await row('Set API Key').waitFor();
    await hands.press('Enter');
    await row('Mistral').waitFor();
    await hands.type('mistral');
    await hands.press('Enter');
    await page.locator('.quick-input-widget input[type=password]').waitFor();
    const before = await desk.serverPid();
    await page.keyboard.insertText(process.env.ACME_ENTRY);
    await hands.press('Enter');
    await desk.until('the server that has the key', async () => ![null, before].includes(await desk.serverPid()));
    await desk.running();
}

/** A user's hands: keys, counted. */
class Hands {
    keys = 0;

    constructor(page) {
        this.keyboard = page.keyboard;
    }

    async press(key) {
        this.keys += 1;
        await this.keyboard.press(key);
    }

    async type(words) {
        this.keys += words.length;
        await this.keyboard.type(words);
    }

    async chord(letter) {
        await this.press('Shift+Alt+KeyW');
        await this.press(letter);
    }
}
