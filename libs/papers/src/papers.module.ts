import { Module } from '@nestjs/common';
import { StorageModule } from '@app/storage';
import { Archive } from './archive.js';
import { Papers } from './papers.js';
import { Renderer } from './renderer.js';

@Module({ imports: [StorageModule], providers: [Archive, Papers, Renderer], exports: [Papers] })
export class PapersModule {}
