// A language server that does what a test asks, for observing VS Code. `probe/applyEdit` sends its
// params as a `workspace/applyEdit` and answers with the editor's result, a failure included;
// `probe/log` answers with every message about documents so far, our results among them.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const modules = join(process.env.ROPEWALK_EDITORS, 'vscode/modules/package.json');
const rpc = createRequire(modules)('vscode-jsonrpc/node');
const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(process.stdin),
    new rpc.StreamMessageWriter(process.stdout),
);
const log = [];

let hello;
connection.onRequest('initialize', (params) => {
    hello = params;
    return {
        capabilities: {
            positionEncoding: 'utf-16',
            textDocumentSync: { openClose: true, change: 2, save: {} },
            executeCommandProvider: { commands: ['probe.hello'] },
        },
    };
});
connection.onRequest('workspace/executeCommand', ({ command }) => `${command} done`);
connection.onRequest('shutdown', () => null);
connection.onNotification('exit', () => process.exit(0));
connection.onNotification((method, params) => {
    if (method.startsWith('textDocument/')) log.push({ method, params });
});
connection.onRequest('probe/initialize', () => hello);
connection.onRequest('probe/log', () => log);
connection.onRequest('probe/applyEdit', async (edit) => {
    try {
        const result = await connection.sendRequest('workspace/applyEdit', { edit });
        log.push({ method: 'result', params: result });
        return result;
    } catch (error) {
        return { error: error.message };
    }
});
connection.listen();
