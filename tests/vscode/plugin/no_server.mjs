// Without a server that can run, every command says what is wrong and what to do, and so do the chat and the status bar.

import assert from 'node:assert/strict';

export async function run(desk) {
    await desk.edit('a.txt', 'one\n');
    const health = await desk.until('the word on what is wrong', () => desk.host.run((vscode) => {
        const extension = vscode.extensions.getExtension('ropewalk.ropewalk');
        return extension?.isActive && extension.exports.hub.health.state === 'problem' && extension.exports.hub.health;
    }));
    assert.match(health.words, /^There is no program at \/nowhere\/ropewalk, which the setting names\.$/);
    await desk.keys('a');
    await desk.notification('There is no program at /nowhere/ropewalk');
    await desk.notification('Try Again');
    const chat = await desk.chat();
    await chat.getByText('There is no program at /nowhere/ropewalk').waitFor();
    await chat.getByRole('button', { name: 'Open Settings' }).waitFor();
    await desk.picture('no_server');
    const [status] = await desk.page.locator('.statusbar-item', { hasText: 'Ropewalk' }).all();
    assert.match(await status.innerHTML(), /codicon-warning/);
}
