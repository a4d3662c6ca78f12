/** The directory with the pages of the documentation. The bundle has a copy of it beside its files. */
export const docsFolder: URL = new URL('../../../../docs/', import.meta.url);
