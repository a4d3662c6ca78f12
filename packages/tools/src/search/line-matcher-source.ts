/**
 * The program of the thread that runs a regular expression, as text: a file of its own would have to be
 * found again after bundling, and here it works wherever the package does.
 *
 * It gets `{ source, flags, context, maxMatches, maxLength }` once and then one text after the other, and
 * answers each with `{ count, lines: [number, isMatch, text][] }`: all matching lines counted, and the first
 * of them with the lines around. A line is shortened around its match.
 */
export const lineMatcherSource: string = `
const { parentPort, workerData } = require('node:worker_threads');
const { source, flags, context, maxMatches, maxLength } = workerData;
const pattern = new RegExp(source, flags);

function shorten(line, at) {
  if (line.length <= maxLength) return line;
  const start = Math.max(0, Math.min(at - Math.floor(maxLength / 4), line.length - maxLength));
  const end = start + maxLength;
  return (start > 0 ? '…' : '') + line.slice(start, end) + (end < line.length ? '…' : '');
}

function search(text) {
  const all = text.split(/\\r?\\n/);
  if (all.at(-1) === '') all.pop();
  const shown = new Map();
  let count = 0;
  for (let index = 0; index < all.length; index += 1) {
    const match = pattern.exec(all[index]);
    if (match === null) continue;
    count += 1;
    if (count > maxMatches) continue;
    for (let near = Math.max(0, index - context); near < Math.min(all.length, index + context + 1); near += 1) {
      if (!shown.has(near)) shown.set(near, [near + 1, false, shorten(all[near], 0)]);
    }
    shown.set(index, [index + 1, true, shorten(all[index], match.index)]);
  }
  return { count, lines: [...shown.values()].sort((left, right) => left[0] - right[0]) };
}

parentPort.on('message', (text) => parentPort.postMessage(search(text)));
parentPort.postMessage('ready');
`;
