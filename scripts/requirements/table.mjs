// The requirements of Cobbler's five specifications, and its promises. The tables hold what a script cannot find out: what
// each requirement asks for, which files implement it, and where the implementation departs from it. The tests that prove
// it are found by their names.
import { promises } from './promises.mjs';
import { agent } from './s0-agent.mjs';
import { sessionAgent } from './s1-session-agent.mjs';
import { agentTool } from './s2-agent-tool.mjs';
import { assistant } from './s3-assistant.mjs';
import { harness } from './s4-harness.mjs';

/**
 * @typedef {object} Entry
 * @property {string} asks paraphrased
 * @property {string[]} [in] files of the project
 * @property {string} [untested] why no test can prove it
 */
/**
 * @typedef {object} Departure
 * @property {string[]} of numbers, or the id of the whole table
 * @property {string} asked the specification's words
 * @property {string} here what Cobbler does
 * @property {string} why
 */
/**
 * @typedef {object} Table
 * @property {string} id
 * @property {string} title
 * @property {Record<string, Entry>} entries by number, such as S0.16
 * @property {Departure[]} [departures]
 */

/** @type {Table[]} */
export const requirements = [agent, harness, sessionAgent, agentTool, assistant];

export { promises };
