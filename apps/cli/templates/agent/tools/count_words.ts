/** The file gives the tool its name. `cobbler docs agent-folder` explains the fields. */
export default {
  description: 'Counts the words of a text.',
  // The tool changes nothing, so its calls need no approval. Remove this line for a tool that does.
  effect: 'read',
  parameters: {
    type: 'object',
    properties: { text: { type: 'string', description: 'The text.' } },
    required: ['text'],
  },
  execute: ({ text }: { text: string }) => text.split(/\s+/).filter((word) => word !== '').length,
};
