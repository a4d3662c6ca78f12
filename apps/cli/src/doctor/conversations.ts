/** The formats of conversations, without any other part of the providers. */
export { repairTranscript } from '@cobbler/agent/transcripts';
export { claudeTranscripts } from '@cobbler/provider-claude/transcripts';
export { chatTranscripts, responsesTranscripts } from '@cobbler/provider-openai/transcripts';
