/**
 * Test wires of the services as seen through the AI SDK.
 *
 * @module
 */

export { type Between, betweenAnthropic, betweenChat, betweenResponses } from './between.ts';
export { aiSdkContract } from './contract.ts';
export { throughAiSdk } from './through.ts';
