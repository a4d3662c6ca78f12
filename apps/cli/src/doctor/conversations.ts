/** The formats of conversations. Importing this file when it is needed loads no other part of the providers. */
export { repairTranscript } from '@cobbler/agent/provider';
export { claudeTranscripts } from '@cobbler/provider-claude';
export { chatTranscripts, responsesTranscripts } from '@cobbler/provider-openai';
