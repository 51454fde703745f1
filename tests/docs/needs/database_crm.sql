-- A database for statements that contain its name. Only one page of the shared server may need it.
create database crm;
