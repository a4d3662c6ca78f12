// The floor in a process that has loaded the vendor's SDK: the start-up cost of using the SDK as the client.
import '@anthropic-ai/sdk';

export { open } from './floor.ts';
