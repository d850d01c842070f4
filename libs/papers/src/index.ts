export { dayInWords, decimal, type Paper, paperOf, type PrintedInvoice } from './paper.js';
export type { PaperKind, Period } from './archive.js';
export { adjustmentNoteOf, receiptOf, statementOf } from './family-papers.js';
export { Papers, type ServedPaper } from './papers.js';
export { PapersModule } from './papers.module.js';
export { Renderer } from './renderer.js';
