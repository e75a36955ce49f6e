// The focus moves when the user acts, never when the server answers or a change goes by itself: keys typed meanwhile are where the user
// is. The server is held still for as long as it takes to see that.

import assert from 'node:assert/strict';

const BEFORE = 'def greet(name):\n\n    print("hello")\n';

export async function run(desk) {
    await desk.edit('greet.py', BEFORE, 0);
    await desk.running();
    await asked(desk);
    await decided(desk);
    await gone(desk);
    await failed(desk);
}

/** The box goes with Enter, before the server has answered, and the next keys are the file's. */
async function asked(desk) {
    const { page } = desk;
    await desk.openAskingBox();
    await page.keyboard.type('greet by name');
    await desk.held(async () => {
        await page.keyboard.press('Enter');
        await page.locator('.review-widget').first().waitFor({ state: 'detached' });
        await page.keyboard.type('# ');
        await desk.until('the keys in the file', async () => (await desk.text('greet.py')) === `# ${BEFORE}`);
    });
    await desk.hunks(2);
    await desk.idle();
    const prompts = (await desk.items()).filter(({ kind }) => kind === 'prompt').map(({ text }) => text);
    assert.deepEqual(prompts, ['greet by name']);
}

/** The user accepts and goes on to the chat before the server has answered. */
async function decided(desk) {
    const { page } = desk;
    await openThread(desk);
    const chat = await desk.chat();
    await desk.edit('greet.py', undefined, 2);
    await desk.held(async () => {
        await desk.keys('y');
        await page.locator('.review-widget').first().waitFor({ state: 'detached' });
        await chat.locator('#message').click();
        await page.keyboard.type('it');
    });
    await desk.hunks(1);
    await page.keyboard.type(' works');
    await desk.until('the words in the chat', async () => (await chat.locator('#message').inputValue()) === 'it works');
}

/** The change in the thread goes by itself while the user writes in the chat. */
async function gone(desk) {
    const { page } = desk;
    await openThread(desk);
    const chat = await desk.chat();
    await chat.locator('#message').click();
    await page.keyboard.press('End');
    await page.keyboard.type(' well');
    const [{ id }] = await desk.hunks(1);
    await desk.host.run((vscode, hunk) => vscode.extensions.getExtension('ropewalk.ropewalk').exports.hub.run('reject', { hunk }), id);
    await desk.hunks(0);
    await page.locator('.review-widget').first().waitFor({ state: 'detached' });
    await page.keyboard.type(' enough');
    await desk.until('the words in the chat', async () => (await chat.locator('#message').inputValue()) === 'it works well enough');
    assert.ok(!(await desk.text('greet.py')).includes('enough'));
}

/** What the server has not got is in the box that is opened next. */
async function failed(desk) {
    const { page } = desk;
    await desk.edit('greet.py');
    await desk.openAskingBox();
    await page.keyboard.type('lost?');
    const pid = await desk.serverPid();
    process.kill(pid, 'SIGSTOP');
    await page.keyboard.press('Enter');
    await page.locator('.review-widget').first().waitFor({ state: 'detached' });
    process.kill(pid, 'SIGKILL');
    await desk.until('another server', async () => ![null, pid].includes(await desk.serverPid()));
    await desk.running();
    await desk.edit('greet.py');
    await desk.openAskingBox();
    await desk.until('the words in the box', async () => (await page.locator('.review-widget .view-lines').first().textContent()) === 'lost?');
}

async function openThread(desk) {
    await desk.edit('greet.py', undefined, 2);
    await desk.keys('n');
    await desk.page.locator('.review-widget').first().waitFor();
}
