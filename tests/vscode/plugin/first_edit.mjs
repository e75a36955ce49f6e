// From a selected line to the first accepted change, by keyboard alone.

import assert from 'node:assert/strict';

const BEFORE = 'def greet(name):\n    print("hello")\n';
const AFTER = 'def greet(name):\n    print(f"hello {name}")\n';

export async function run(desk) {
    await desk.edit('greet.py', BEFORE, 1);
    await desk.running();
    await desk.ask('greet the user by name');
    await desk.hunks(1);
    await desk.idle();
    assert.equal(await desk.text('greet.py'), BEFORE);
    await desk.picture('first_edit_proposed');
    await desk.keys('n');
    await desk.page.locator('.review-widget').first().waitFor();
    await desk.picture('first_edit_thread');
    await desk.keys('y');
    await desk.until('the accepted text', async () => (await desk.text('greet.py')) === AFTER);
    await desk.hunks(0);
    await desk.picture('first_edit_accepted');
}
