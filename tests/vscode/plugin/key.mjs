// A key that is set by hand goes to the server in its environment, and from there to the model: it is in no setting and nowhere on the
// screen. The keys of the extension clash with none of VS Code's own.

import assert from 'node:assert/strict';

export async function run(desk) {
    const { page } = desk;
    await desk.edit('a.txt', 'one\n');
    await desk.running();
    const before = await desk.serverPid();
    await desk.command('ropewalk.ui.setKey');
    await page.locator('.quick-input-widget .monaco-list-row').first().waitFor();
    await page.keyboard.type('mistral');
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-widget input[type=password]').waitFor();
    await page.keyboard.insertText(process.env.ACME_ENTRY);
    await page.keyboard.press('Enter');
    await desk.until('another server', async () => ![undefined, null, before].includes(await desk.serverPid()));
    await desk.running();
    await desk.edit('a.txt');
    await desk.ask('hello');
    await desk.until('the answer', async () => (await desk.items()).some(({ text }) => text === 'I have the key.'));
    await clashes(desk);
}

async function clashes(desk) {
    const keys = await desk.host.run(async (vscode) => {
        const uri = vscode.Uri.parse('vscode://defaultsettings/keybindings.json');
        return (await vscode.workspace.openTextDocument(uri)).getText();
    });
    const bindings = JSON.parse(keys.replace(/^\s*\/\/.*$/gm, ''));
    assert.ok(bindings.length > 500);
    const ours = bindings.filter(({ key }) => key.startsWith('shift+alt+w'));
    assert.ok(ours.length >= 12);
    assert.deepEqual(ours.filter(({ command }) => !command.startsWith('ropewalk.')), []);
}
