export { CONTENT_TYPES, FORMATS, type ImageFault, type ImageFormat, MAX_FRAMES } from './formats.js';
export { type EncodedImage, ImageEncoder, ImageRefused } from './image-encoder.js';
export { type Box, type EndCause, ImageProcess, ImageProcessEnded } from './image-process.js';
export { TemporaryFile, TemporaryFileError } from './temporary-file.js';
