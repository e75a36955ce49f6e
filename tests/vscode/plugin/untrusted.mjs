// In a folder that is not trusted the extension does not start, and VS Code says why.

import assert from 'node:assert/strict';

export async function run(desk) {
    const { page } = desk;
    await page.getByText('Do you trust the authors', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: "No, I don't trust the authors" }).click();
    await page.locator('.activitybar').first().waitFor();
    assert.equal(await page.locator('.activitybar .action-item', { hasText: 'Ropewalk' }).count(), 0);
    assert.equal(await page.locator('.statusbar-item', { hasText: 'Ropewalk' }).count(), 0);
    await desk.picture('untrusted');
}
