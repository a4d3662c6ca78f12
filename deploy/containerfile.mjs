// Parses the subset of Containerfiles that ours uses: one instruction per line or continued with a backslash, no arguments.

/**
 * @typedef {object} Instruction
 * @property {string} word such as RUN
 * @property {string} rest the text after it
 * @property {number} line
 *
 * @typedef {object} Stage
 * @property {string} from base image
 * @property {string} name
 * @property {Instruction[]} instructions
 */

const known = /^(COPY|RUN|ENV|USER|WORKDIR|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD)$/;

/**
 * @param {string} text
 * @returns {Stage[]}
 */
export function stagesOf(text) {
  /** @type {Stage[]} */
  const stages = [];
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const line = index + 1;
    let whole = lines[index] ?? '';
    if (/^\s*(#|$)/.test(whole)) continue;
    while (whole.endsWith('\\')) whole = `${whole.slice(0, -1)}${lines[++index] ?? ''}`;
    const [, word = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(whole) ?? [];
    if (word === 'FROM') {
      const [, from = '', name = ''] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? [];
      stages.push({ from, name, instructions: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (!known.test(word) || stage === undefined) throw new Error(`Containerfile:${line}: ${whole}`);
    stage.instructions.push({ word, rest, line });
  }
  return stages;
}

/**
 * Parses `COPY [--from=STAGE] SOURCE TARGET`.
 * @param {Instruction} instruction
 */
export function copyOf({ rest, line }) {
  const [, from, source, target] = /^(?:--from=(\S+)\s+)?(\S+)\s+(\S+)$/.exec(rest) ?? [];
  if (source === undefined || target === undefined) throw new Error(`Containerfile:${line}: COPY ${rest}`);
  return { from, source, target };
}

/**
 * Returns the value of the last instruction of a kind in a stage.
 * @param {Stage} stage
 * @param {string} word
 */
export function lastOf({ instructions }, word) {
  return instructions.findLast((instruction) => instruction.word === word)?.rest;
}
