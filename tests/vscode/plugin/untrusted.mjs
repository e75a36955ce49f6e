// In a folder that is not trusted the extension does not start; once the folder is trusted it does, without a reload.

import assert from 'node:assert/strict';

export async function run(desk) {
    const { page } = desk;
    await page.getByText('Restricted Mode', { exact: true }).first().waitFor();
    await page.getByText('Trust this folder to enable all features', { exact: false }).first().waitFor();
    const own = page.locator('.statusbar-item', { hasText: 'Ropewalk' });
    assert.equal(await own.count(), 0);
    await page.getByText('Manage', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Trust', exact: true }).first().waitFor();
    await desk.picture('untrusted');
    await page.getByRole('button', { name: 'Trust', exact: true }).first().click();
    await own.first().waitFor();
}
