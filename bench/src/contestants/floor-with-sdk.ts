// The floor in a process that has loaded the vendor's SDK: what a start costs that uses it as its client.
import '@anthropic-ai/sdk';

export { open } from './floor.ts';
