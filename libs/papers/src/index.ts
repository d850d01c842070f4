export { type Paper, paperOf, type PrintedInvoice } from './paper.js';
export { Papers, type StoredPaper } from './papers.js';
export { PapersModule } from './papers.module.js';
export { Renderer } from './renderer.js';
