// What is asked of Cobbler: the requirements of its five specifications, and what it promises. Here stands what a
// script cannot find out: what each asks for, where it is done, and where we do it otherwise. Which tests prove it
// is read from their names.
import { promises } from './promises.mjs';
import { agent } from './s0-agent.mjs';
import { sessionAgent } from './s1-session-agent.mjs';
import { agentTool } from './s2-agent-tool.mjs';
import { assistant } from './s3-assistant.mjs';
import { harness } from './s4-harness.mjs';

/**
 * @typedef {object} Entry
 * @property {string} asks in our words
 * @property {string[]} [in] files of the project
 * @property {string} [untested] why no test can prove it
 */
/**
 * @typedef {object} Departure
 * @property {string[]} of numbers, or the id of the whole table
 * @property {string} seed what was asked for
 * @property {string} here what we do
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
export const seeds = [agent, harness, sessionAgent, agentTool, assistant];

export { promises };
