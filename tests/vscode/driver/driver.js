// The test's hand in the extension host: runs functions that come over a socket, and answers with what they give.
'use strict';

const net = require('node:net');
const readline = require('node:readline');
const vscode = require('vscode');

let served;

/** Serves the test until it hangs up; once, however it was started. */
const serve = () =>
    (served ??= new Promise((done) => {
        const socket = net.connect(Number(process.env.ROPEWALK_DRIVER_PORT), '127.0.0.1');
        socket.on('close', done);
        readline.createInterface({ input: socket }).on('line', async (line) => {
            const { id, code, given } = JSON.parse(line);
            let answer;
            try {
                // The code is the test's own, written beside this file.
                const call = new Function('vscode', 'require', 'given', `return (${code})(vscode, ...given)`);
                answer = { id, result: (await call(vscode, require, given)) ?? null };
            } catch (error) {
                answer = { id, error: error.stack ?? String(error) };
            }
            socket.write(`${JSON.stringify(answer)}\n`);
        });
    }));

exports.activate = () => void serve();
exports.run = serve;
