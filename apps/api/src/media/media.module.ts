import { Module } from '@nestjs/common';
import { StorageModule } from '@app/storage';
import { ImageUploads } from './image-uploads.js';

@Module({ imports: [StorageModule], providers: [ImageUploads], exports: [ImageUploads] })
export class MediaModule {}
