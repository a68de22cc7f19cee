"""Datasets for learning on meshes: many recordings in one HDF5 file; `write_dataset` makes it, `load_dataset` reads it.

HDF5 because it is an open standard that every language reads, because crumple needs h5py for its recordings anyway, and
because one file with compressed arrays is easy to copy and to put into an archive.
"""

from crumple.studies.datasets.load import Contacts, Dataset, Frame, Mesh, Pinned, Run, load_dataset
from crumple.studies.datasets.write import TOPOLOGIES, datasheet_path, write_dataset

__all__ = [
    "TOPOLOGIES",
    "Contacts",
    "Dataset",
    "Frame",
    "Mesh",
    "Pinned",
    "Run",
    "datasheet_path",
    "load_dataset",
    "write_dataset",
]
