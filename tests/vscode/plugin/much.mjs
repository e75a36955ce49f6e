// 10,000 pieces of an answer and a megabyte of output: nothing is lost or drawn twice, frames keep coming, and the view stays where the
// reader is until they go to the end.

import assert from 'node:assert/strict';

export async function run(desk) {
    await desk.edit('a.txt', 'one\n');
    await desk.running();
    const chat = await desk.chat();
    await chat.locator('#message:focus').waitFor();
    await chat.evaluate(() => {
        globalThis.slowest = 0;
        let before = performance.now();
        const measure = (now) => {
            globalThis.slowest = Math.max(globalThis.slowest, now - before);
            before = now;
            requestAnimationFrame(measure);
        };
        requestAnimationFrame(measure);
    });
    await chat.locator('#message').fill('say very much');
    await chat.locator('#message').press('Enter');
    await chat.getByText('word 3000 ', { exact: false }).first().waitFor();
    const box = chat.locator('.transcript');
    await box.evaluate((one) => { one.scrollTop = 40; });
    await desk.until('the reader away from the end', () => chat.locator('.to-end').count());
    await desk.idle();
    await desk.until('all words', async () => (await chat.locator('.markdown').first().textContent()).includes('word 9999'));
    assert.equal(await box.evaluate((one) => one.scrollTop), 40, 'the view stays where the reader is');
    const words = (await chat.locator('.markdown').first().textContent()).match(/word \d+/g);
    assert.deepEqual(words, Array.from({ length: 10_000 }, (_, index) => `word ${index}`));
    desk.say(`slowest frame ${Math.round(await chat.evaluate(() => globalThis.slowest))} ms`);
    await chat.locator('.to-end').click();
    await output(desk, chat);
    await desk.picture('much');
}

async function output(desk, chat) {
    const line = chat.locator('.call .line').first();
    await line.click();
    // The server leaves out what comes faster than it can tell, and says so in the text.
    const told = (await desk.items()).find(({ kind }) => kind === 'call').output.trimEnd().split('\n');
    const shown = await desk.until('the last line', async () => {
        const lines = (await chat.locator('.output pre').first().textContent()).split('\n');
        return lines.at(-1) === told.at(-1) && lines;
    });
    assert.deepEqual(shown, told.slice(-400), 'the last lines alone');
    assert.ok(told.length > 400);
    await chat.getByRole('button', { name: 'Open the whole output' }).click();
    await desk.until('the whole output', () => desk.host.run((vscode) =>
        vscode.window.activeTextEditor?.document.uri.scheme === 'ropewalk-text'));
}
