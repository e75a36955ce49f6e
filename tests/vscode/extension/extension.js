// A plain language client: it starts the program in $ROPEWALK_SERVER (a JSON list of words) for
// files and unsaved documents, and hands the client to the tests. It registers no commands of its
// own, because the client registers every command that the server names.
'use strict';

const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

/** What the server writes to stderr, for the log that a failed test shows. */
const heard = {
    name: 'Ropewalk',
    append: (text) => console.log(`server: ${text}`),
    appendLine: (text) => console.log(`server: ${text}`),
    replace: () => {},
    clear: () => {},
    show: () => {},
    hide: () => {},
    dispose: () => {},
};

/** Starts the client when a test activates the extension; `{ client, progress }`. */
async function activate() {
    const [command, ...args] = JSON.parse(process.env.ROPEWALK_SERVER);
    const program = { command, args, transport: TransportKind.stdio };
    const progress = [];
    const client = new LanguageClient('ropewalk', 'Ropewalk', program, {
        documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
        outputChannel: heard,
        initializationOptions: JSON.parse(process.env.ROPEWALK_OPTIONS ?? '{}'),
        middleware: {
            handleWorkDoneProgress(token, params, next) {
                progress.push(params);
                next(token, params);
            },
        },
    });
    await client.start();
    return { client, progress };
}

exports.activate = activate;
